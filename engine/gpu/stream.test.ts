/** What ends a device, and what is left of it: on Dawn's null backend, which validates as every other does and computes nothing. */
import { afterEach, describe, expect, it } from 'vitest';
import { EngineBroken, EngineTimeout } from '../errors.ts';
import { chainOf } from '../probe/dependent.ts';
import { Gpu } from './device.ts';
import { openNullGpu } from './null-device.ts';
import { Pending, waitLimitMs } from './pending.ts';
import { Programs, type Dispatch } from './programs.ts';
import { Stream } from './stream.ts';

const opened: Gpu[] = [];
afterEach(() => {
  for (const gpu of opened.splice(0)) gpu.close();
});

interface Tools {
  readonly gpu: Gpu;
  readonly stream: Stream;
  readonly dispatch: Dispatch;
  /** A buffer to copy from and to. */
  readonly buffer: (label: string) => GPUBuffer;
}

async function open(limitMs?: (pending: number) => number): Promise<Tools> {
  const first = await openNullGpu();
  const gpu = limitMs ? new Gpu(first.device, first.adapter, limitMs) : first;
  opened.push(gpu);
  const stream = new Stream(gpu);
  const { dispatches } = await chainOf(gpu, new Programs(gpu), 2);
  const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  return { gpu, stream, dispatch: dispatches[0]!, buffer: (label) => gpu.device.createBuffer({ label, size: 256, usage }) };
}

/** Every way to give the device something. */
function refusals({ stream, buffer, dispatch }: Tools, made: GPUBuffer): (() => unknown)[] {
  return [
    () => stream.submit('token'),
    () => stream.record(dispatch),
    () => stream.clear(made),
    () => stream.copy(made, 0, buffer('another'), 0, 4),
    () => stream.upload(made, new Uint32Array(1)),
  ];
}

describe('a failure between recording and submitting', () => {
  it('drops what was recorded before its buffers are freed, and the device works on', async () => {
    const { gpu, stream, dispatch, buffer } = await open();
    const [mine, other] = [buffer('mine'), buffer('other')];
    const freed = stream.holding([mine], async () => {
      stream.record(dispatch);
      stream.copy(mine, 0, other, 0, 256);
      throw new RangeError('no memory for the next buffer');
    });
    await expect(freed).rejects.toThrow('no memory for the next buffer');
    // Submitted now, the copy from a destroyed buffer would take this with it.
    stream.copy(other, 0, buffer('target'), 0, 256);
    stream.submit('token');
    await stream.done();
    expect(() => gpu.check()).not.toThrow();
  });

  it('is an allocation for a readback too: nothing of it is submitted later', async () => {
    const { gpu, stream, dispatch, buffer } = await open();
    const mine = buffer('mine');
    stream.record(dispatch);
    stream.copy(mine, 0, buffer('other'), 0, 256);
    const create = gpu.device.createBuffer.bind(gpu.device);
    gpu.device.createBuffer = () => {
      throw new RangeError('out of memory');
    };
    await expect(stream.read(mine, 0, 256)).rejects.toThrow(
      'a buffer of 256 bytes to read back into cannot be made on null backend: RangeError: out of memory',
    );
    gpu.device.createBuffer = create;
    mine.destroy();
    stream.submit('token');
    expect(stream.counters.submits).toEqual({});
    stream.record(dispatch);
    stream.submit('token');
    await stream.done();
  });
});

describe('a failed submit', () => {
  it('is seen by the next wait, and everything after it refuses', async () => {
    const tools = await open();
    const { stream, buffer } = tools;
    const [gone, other] = [buffer('gone'), buffer('other')];
    stream.copy(gone, 0, other, 0, 256);
    gone.destroy();
    stream.submit('token');
    await expect(stream.done()).rejects.toThrow(/^invalid work on null backend: .*destroyed/s);
    for (const refuse of refusals(tools, other)) expect(refuse).toThrow(EngineBroken);
    await expect(stream.read(other, 0, 4)).rejects.toThrow('invalid work on null backend');
    expect(stream.counters.submits).toEqual({ token: 1 });
  });
});

describe('a lost device', () => {
  it('ends the waits that are under way, and everything after refuses', async () => {
    const tools = await open(() => 60_000);
    const { gpu, stream, dispatch, buffer } = tools;
    const made = buffer('made');
    stream.record(dispatch);
    stream.submit('token');
    // A fence of a lost device may never come.
    gpu.device.queue.onSubmittedWorkDone = () => new Promise(() => undefined);
    const waiting = stream.done();
    gpu.device.destroy();
    await expect(waiting).rejects.toThrow(/^the device null backend was lost \(destroyed\)/);
    for (const refuse of refusals(tools, made)) expect(refuse).toThrow('was lost');
  });
});

describe('a fence that does not come', () => {
  it('is a time-out after what is pending may take, and everything after it refuses', async () => {
    const asked: number[] = [];
    const tools = await open((pending) => {
      asked.push(pending);
      return 30;
    });
    const { gpu, stream, dispatch, buffer } = tools;
    const made = buffer('made');
    await stream.done();
    asked.length = 0;
    for (let index = 0; index < 7; index++) stream.record(dispatch);
    stream.submit('token');
    stream.record(dispatch);
    stream.submit('token');
    await stream.read(made, 0, 4);
    for (let index = 0; index < 5; index++) stream.record(dispatch);
    stream.submit('token');
    gpu.device.queue.onSubmittedWorkDone = () => new Promise(() => undefined);
    const error: unknown = await stream.done().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(EngineTimeout);
    expect(String(error)).toContain('submitted work on null backend did not finish within 30 ms');
    // Eight dispatches were pending when the readback was waited for, and five were after it.
    expect(asked).toEqual([8, 5]);
    for (const refuse of refusals(tools, made)) expect(refuse).toThrow(EngineTimeout);
  });

  it('may take longer the more is pending, and longer on a CPU driver', () => {
    const limits = [0, 136, 2048].map((pending) => waitLimitMs('gpu', pending));
    expect(limits).toEqual(limits.toSorted((a, b) => a - b));
    expect(new Set(limits).size).toBe(3);
    expect(waitLimitMs('software', 136)).toBeGreaterThan(waitLimitMs('gpu', 136));
    const pending = new Pending();
    pending.add(5);
    const { mark } = pending;
    pending.add(3);
    pending.reached(mark);
    expect(pending.count).toBe(3);
    pending.reached(2);
    expect(pending.count).toBe(3);
  });
});

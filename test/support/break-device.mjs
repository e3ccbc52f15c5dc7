/**
 * Preloaded into an engine process (NODE_OPTIONS=--import): breaks the device at WebGPU's own calls, as BREAK_DEVICE says, once the third
 * command buffer is submitted. What the engine makes of it is its own.
 */
import { globals } from 'webgpu';

const { GPUBuffer, GPUDevice, GPUQueue } = globals;
const mode = process.env['BREAK_DEVICE'];
const SUBMITS = 3;
let submits = 0;
let device;
let logits;

const createBuffer = GPUDevice.prototype.createBuffer;
GPUDevice.prototype.createBuffer = function (descriptor) {
  device = this;
  // As Dawn throws where it has no memory to map.
  if (mode === 'allocation' && submits >= SUBMITS && descriptor.label === 'readback') throw new RangeError('createBuffer failed, size is too large');
  const buffer = createBuffer.call(this, descriptor);
  if (descriptor.label === 'logits') logits = buffer;
  return buffer;
};

const submit = GPUQueue.prototype.submit;
GPUQueue.prototype.submit = function (commands) {
  if (++submits === SUBMITS && mode === 'lost') device.destroy();
  if (submits === SUBMITS && mode === 'submit') logits.destroy();
  return submit.call(this, commands);
};

if (mode === 'fence') {
  const map = GPUBuffer.prototype.mapAsync;
  GPUBuffer.prototype.mapAsync = function (...args) {
    return submits >= SUBMITS ? new Promise(() => undefined) : map.apply(this, args);
  };
  // The engine waits for minutes: long enough is told from its own message.
  const { setTimeout: wait } = globalThis;
  globalThis.setTimeout = (work, ms, ...args) => wait(work, ms > 10_000 && submits >= SUBMITS ? 100 : ms, ...args);
}

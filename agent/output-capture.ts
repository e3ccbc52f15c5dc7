/**
 * Keeps the first and the last part of a stream of any length in bounded memory.
 *
 * What is dropped in between is counted and hashed, so that two outputs compare equal only if the dropped bytes were equal too.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

export const HEAD_BYTES = 64 * 1024;
export const TAIL_BYTES = 192 * 1024;

/** Bounded capture of one stream: head 64 KiB, tail 192 KiB. */
export class OutputCapture {
  private readonly headLimit: number;
  private readonly tailLimit: number;
  private readonly head: Buffer[] = [];
  private headLength = 0;
  private tail: Buffer[] = [];
  private tailLength = 0;
  private readonly dropped = createHash('sha256');
  droppedBytes = 0;

  constructor(headLimit: number = HEAD_BYTES, tailLimit: number = TAIL_BYTES) {
    this.headLimit = headLimit;
    this.tailLimit = tailLimit;
  }

  /** Adds the next bytes of the stream. */
  push(chunk: Buffer): void {
    let rest = chunk;
    const room = this.headLimit - this.headLength;
    if (room > 0) {
      // Copied: a slice would keep the whole pooled chunk alive.
      this.head.push(Buffer.from(rest.subarray(0, room)));
      this.headLength += Math.min(room, rest.length);
      rest = rest.subarray(room);
    }
    if (rest.length === 0) return;
    this.tail.push(Buffer.from(rest));
    this.tailLength += rest.length;
    while (this.tailLength > this.tailLimit) {
      const first = this.tail[0]!;
      const excess = Math.min(this.tailLength - this.tailLimit, first.length);
      this.dropped.update(first.subarray(0, excess));
      this.droppedBytes += excess;
      this.tailLength -= excess;
      if (excess === first.length) this.tail.shift();
      else this.tail[0] = first.subarray(excess);
    }
  }

  /** @returns what was kept, as UTF-8 text (any other byte as `\\xff`, so that two that differ stay so), with one line in the gap that says how much is missing and its SHA-256. */
  text(): string {
    const head = Buffer.concat(this.head);
    const tail = Buffer.concat(this.tail);
    if (this.droppedBytes === 0) return textOf(Buffer.concat([head, tail]));
    const gap = `\n[fleet: ${this.droppedBytes} bytes left out here, sha256 ${this.dropped.copy().digest('hex')}]\n`;
    return textOf(head) + gap + textOf(tail);
  }
}

function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at]!);
    if (length > 0 && at + length <= bytes.length && (length === 1 || isUtf8(bytes.subarray(at, at + length)))) {
      at += length;
      continue;
    }
    parts.push(bytes.toString('utf8', from, at), `\\x${bytes[at]!.toString(16)}`);
    from = ++at;
  }
  return parts.join('') + bytes.toString('utf8', from);
}

/** Bytes of the UTF-8 character that starts with this one; 0 when none does. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HEAD_BYTES, OutputCapture, TAIL_BYTES } from './output-capture.ts';

describe('OutputCapture', () => {
  it('keeps a short output as it is', () => {
    const capture = new OutputCapture();
    capture.push(Buffer.from('first\n'));
    capture.push(Buffer.from('ünd\n'));
    expect(capture.text()).toBe('first\nünd\n');
    expect(capture.droppedBytes).toBe(0);
  });

  it('keeps head and tail of any length, and says what is missing', () => {
    const whole = Buffer.from(Array.from({ length: 200_000 }, (_, line) => `line ${line}\n`).join(''));
    const capture = new OutputCapture();
    for (let at = 0; at < whole.length; at += 7001) capture.push(whole.subarray(at, at + 7001));
    const dropped = whole.subarray(HEAD_BYTES, whole.length - TAIL_BYTES);
    expect(capture.droppedBytes).toBe(dropped.length);
    const gap = `\n[fleet: ${dropped.length} bytes left out here, sha256 ${createHash('sha256').update(dropped).digest('hex')}]\n`;
    expect(capture.text()).toBe(whole.subarray(0, HEAD_BYTES).toString() + gap + whole.subarray(whole.length - TAIL_BYTES).toString());
  });

  it('keeps bytes that are no UTF-8 apart, and cuts no character that is', () => {
    const capture = new OutputCapture();
    capture.push(Buffer.from([0x61, 0xff, 0xfe, 0xc3, 0xbc, 0xe2, 0x82, 0x0a, 0x80]));
    expect(capture.text()).toBe('a\\xff\\xfeü\\xe2\\x82\n\\x80');
  });

  it('shows a difference in the dropped part', () => {
    const texts = ['a', 'b'].map((letter) => {
      const capture = new OutputCapture(4, 4);
      capture.push(Buffer.from(`head..${letter}..tail`));
      return capture.text();
    });
    expect(texts[0]).not.toBe(texts[1]);
  });
});

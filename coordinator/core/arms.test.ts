import { describe, expect, it } from 'vitest';
import { ArmSyntaxError, parseArm, parseArms } from './arms.ts';

it('reads a head with settings', () => {
  expect(parseArm('HEAD[qmm=scalar,ncols=8]')).toEqual({ label: 'HEAD[qmm=scalar,ncols=8]', ref: 'HEAD', settings: { qmm: 'scalar', ncols: '8' } });
  expect(parseArm(' HEAD~1 ')).toEqual({ label: 'HEAD~1', ref: 'HEAD~1', settings: {} });
});

it('splits a list at commas outside of brackets', () => {
  expect(parseArms('HEAD[qmm=scalar,ncols=8], HEAD[qmm=vec4],main').map((arm) => arm.label)).toEqual(['HEAD[qmm=scalar,ncols=8]', 'HEAD[qmm=vec4]', 'main']);
});

describe('points at the column', () => {
  const column = (text: string): [number, string] => {
    try {
      parseArms(text);
    } catch (error) {
      if (error instanceof ArmSyntaxError) return [error.column, error.message];
    }
    throw new Error(`"${text}" was read`);
  };
  it.each([
    ['', 1, 'expected a head'],
    ['HEAD,', 6, 'expected a head'],
    ['[qmm=vec4]', 1, 'before "["'],
    ['HEAD[qmm=vec4', 14, 'close the settings'],
    ['HEAD[qmm=scalar,ncols]', 17, 'NAME=VALUE'],
    ['HEAD[qmm=scalar,]', 17, 'NAME=VALUE'],
    ['HEAD[qmm=]', 10, 'no setting value'],
    ['HEAD[QMM=1]', 6, 'no setting name'],
    ['HEAD[a=1,a=2]', 10, 'set twice'],
    ['HEAD[a=1]x', 10, 'nothing may follow'],
    ['HEAD]', 5, 'without "["'],
    ['HEAD,--upload-pack=x', 6, 'may not begin with "-"'],
    ['HE AD', 3, 'may not contain'],
  ])('%s', (text, at, problem) => {
    const [found, message] = column(text);
    expect(found).toBe(at);
    expect(message).toContain(problem);
    expect(message.split('\n')[2]).toBe(`  ${' '.repeat(at - 1)}^`);
  });

  it('keeps a setting named like a prototype member', () => expect(parseArm('HEAD[constructor=1]').settings['constructor']).toBe('1'));
});

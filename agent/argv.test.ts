import { describe, expect, it } from 'vitest';
import { buildArgv, type ArgvInput } from './argv.ts';

const base: ArgvInput = {
  command: ['node', 'engine/main.ts', 'decode', '--records={records}', '--adapter', '{adapter}', '{allow-software}'],
  args: ['--prompt', '{case}', '--pinned-ids', '{pinned}', '--logits', '{logits}'],
  takesSettings: true,
  settings: { qmm: 'vec4', ncols: '8' },
  case: 'story',
  adapter: 'SwiftShader Device (Subzero)',
  evidence: 'software',
  recordsFile: '/k/records.ndjson',
  outFolder: '/k/out',
  pinnedFile: '/k/pinned.json',
  logitsFile: '/k/logits.f32',
};

describe('buildArgv', () => {
  it('puts the case after the command and the settings last, in name order', () => {
    expect(buildArgv(base).join(' ')).toBe(
      'node engine/main.ts decode --records=/k/records.ndjson --adapter SwiftShader Device (Subzero) --allow-software ' +
        '--prompt story --pinned-ids /k/pinned.json --logits /k/logits.f32 --set ncols=8 --set qmm=vec4',
    );
    expect(buildArgv(base)).toContain('SwiftShader Device (Subzero)');
  });

  it('drops {allow-software} on a GPU', () => {
    expect(buildArgv({ ...base, evidence: 'gpu' })).not.toContain('--allow-software');
  });

  it('drops an argument with {pinned}, and the one before it, where the case pins nothing', () => {
    const argv = buildArgv({ ...base, pinnedFile: null });
    expect(argv).not.toContain('--pinned-ids');
    expect(argv.join(' ')).toContain('--prompt story --logits');
  });

  it('drops an argument with {logits}, and the one before it, where no rows are compared', () => {
    const argv = buildArgv({ ...base, logitsFile: null });
    expect(argv).not.toContain('--logits');
    expect(argv.join(' ')).toContain('--prompt story --pinned-ids /k/pinned.json --set');
  });

  it('keeps what was emitted before a placeholder that vanished by itself', () => {
    expect(buildArgv({ ...base, command: ['run', '{allow-software}'], args: ['{pinned}'], evidence: 'gpu', pinnedFile: null, takesSettings: false })).toEqual([
      'run',
    ]);
  });

  it('passes no settings to a suite that takes none', () => {
    expect(buildArgv({ ...base, takesSettings: false })).not.toContain('--set');
  });

  it('replaces placeholders once: an adapter named like one stays as it is', () => {
    expect(buildArgv({ ...base, command: ['x', '{adapter}'], args: [], adapter: '{records}', takesSettings: false })).toEqual(['x', '{records}']);
  });
});

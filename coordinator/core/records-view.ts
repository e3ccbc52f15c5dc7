/** Bare engine records, from a machine that reaches nothing, as a run that is shown: no lock, no sealed rule, no head. */
import { parseRecords, type EngineRecord } from '../../engine/protocol.ts';
import { DEFAULT_RULE, type ImportRecordsRequest, type RunView } from '../protocol/run.ts';
import { seal, sha256Hex } from './canonical.ts';
import type { JudgedLeg } from './judge-input.ts';
import { ReceiptError } from './receipt-error.ts';
import { judge } from './verdict.ts';

const NO_LOCK = 'bare engine records were imported; whether the GPU lock was held is not recorded';

interface ReadFile {
  readonly label: string;
  readonly text: string;
  readonly records: readonly EngineRecord[];
  readonly engine: Extract<EngineRecord, { kind: 'engine' }>;
  readonly adapter: Extract<EngineRecord, { kind: 'adapter' }>;
  readonly end: Extract<EngineRecord, { kind: 'end' }>;
}

/** What was imported, by content: labels and SHA-256s. */
export const recordsSeal = ({ device, files }: ImportRecordsRequest): { text: string; sha256: string } =>
  seal({ imported: 'records', device, files: files.map(({ label, records }) => ({ label, sha256: sha256Hex(records) })) });

/**
 * One arm a file, the first the baseline; one leg each. Verdicts are judged like any, and are void, since no lock is recorded.
 * @throws ReceiptError naming the file: not whole, of another schema, neither contract nor decode, or not of one command and adapter.
 */
export function viewOfRecords(request: ImportRecordsRequest, run: string, url: string, at: string): RunView {
  const files = request.files.map(({ label, records }) => readFile(label, records));
  const first = files[0]!;
  const kind = first.engine.command;
  if (kind !== 'contract' && kind !== 'decode')
    throw new ReceiptError(`${first.label} holds records of fleet engine ${kind}; contract and decode can be imported`);
  const other = files.find(
    (file) => file.engine.command !== kind || file.adapter.name !== first.adapter.name || file.adapter.evidence !== first.adapter.evidence,
  );
  if (other !== undefined) throw new ReceiptError(`${other.label} is of ${described(other)}, and ${first.label} of ${described(first)}`);

  const { device } = request;
  const { evidence, name: adapter } = first.adapter;
  const legs = files.map((file, index) => legOf(file, index));
  const verdicts = files.slice(1).map((file, at1) =>
    judge({
      device,
      suite: kind,
      kind,
      timed: kind === 'decode',
      evidence,
      adapter,
      // Whoever imports records of a software device sees it named everywhere.
      allowSoftware: true,
      baseline: first.label,
      candidate: file.label,
      candidateArm: at1 + 1,
      pairs: 1,
      rule: DEFAULT_RULE,
      legs,
      calibration: null,
    }),
  );
  const { text, sha256 } = recordsSeal(request);
  return {
    schema: 1,
    run,
    url,
    submittedAt: at,
    arms: files.map(({ label, engine }) => ({ label, head: 'unknown', tree: 'unknown', settings: engine.settings, subject: `engine ${engine.version}` })),
    pairs: 1,
    rule: DEFAULT_RULE,
    seal: { sha256, at, text, broken: 'bare engine records were imported, and nothing was sealed before they were made' },
    done: true,
    jobs: [
      {
        job: `${run}.${device}.${kind}`,
        device,
        suite: kind,
        kind,
        state: 'judged',
        evidence,
        adapter,
        note: [NO_LOCK, ...files.flatMap(summaries)].join('; '),
        attempts: [],
        acceptedAttempt: null,
        legs: legs.map(({ records, log: _log, ...leg }) => ({ ...leg, log: null, records: sha256Hex(records!) })),
        verdicts,
      },
    ],
    coverage: files.map(({ label }) => ({ device, suite: kind, arm: label, status: 'void', note: NO_LOCK })),
    imported: { kind: 'records', at, sha256 },
  };
}

function readFile(label: string, text: string): ReadFile {
  let parsed: ReturnType<typeof parseRecords>;
  try {
    parsed = parseRecords(text);
  } catch (cause) {
    throw new ReceiptError(`${label}: ${(cause as Error).message.split('\n', 1)[0]!}`, { cause });
  }
  const { records, whole } = parsed;
  const engine = records.find((record) => record.kind === 'engine');
  const adapter = records.find((record) => record.kind === 'adapter');
  const end = records.at(-1);
  if (!whole || engine === undefined || adapter === undefined || end?.kind !== 'end')
    throw new ReceiptError(`${label} is not whole: its engine did not end, or lines were lost`);
  return { label, text, records, engine, adapter, end };
}

const described = ({ engine, adapter }: ReadFile): string => `${engine.command} on ${adapter.name} (${adapter.evidence})`;

function legOf({ text, records, engine, end }: ReadFile, index: number): JudgedLeg {
  const decode = records.find((record) => record.kind === 'decode');
  return {
    index,
    arm: index,
    case: decode?.prompt.name ?? 'all',
    pair: decode === undefined ? null : 1,
    measure: {
      outcome: 'executed',
      exitCode: null,
      signal: null,
      startedAt: engine.startedAt,
      wallMs: end.wallMs,
      vmHwmKiB: end.vmHwmKiB,
      lockHeldBefore: false,
      lockHeldAfter: false,
      note: NO_LOCK,
    },
    records: text,
    log: null,
  };
}

/** The SUMMARY line of a contract, with its arm. */
const summaries = ({ label, records }: ReadFile): string[] =>
  records.flatMap((record) => (record.kind === 'contract-summary' ? [`${label}: ${record.line}`] : []));

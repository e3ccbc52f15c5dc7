/** The files of a receipt: their names, and what is read back from them. The archive around them is not known here. */
import type { z } from 'zod';
import { receipt as receiptShape, receiptOrder, RECEIPT_FILES, type Receipt } from '../protocol/receipt.ts';
import { legMeasure, runView, type LegMeasure, type RunView } from '../protocol/run.ts';
import { sha256Hex } from './canonical.ts';
import { ReceiptError } from './receipt-error.ts';

/** Text of each file by its name in the archive. */
export type ReceiptFiles = ReadonlyMap<string, string>;

export const sealFile = (run: string): string => `runs/${run}/seal.json`;
export const orderFile = (run: string, device: string, suite: string): string => `runs/${run}/${device}.${suite}/order.json`;
/** @param file one of measure.json, records.ndjson, log.txt. */
export const legFile = (run: string, device: string, suite: string, attempt: number, index: number, file: LegFile): string =>
  `runs/${run}/${device}.${suite}/attempt-${attempt}/leg-${String(index).padStart(5, '0')}/${file}`;
type LegFile = 'measure.json' | 'records.ndjson' | 'log.txt';

/** Names by code unit, so that every machine sorts alike. */
export const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** The text of raw-files-sha256.txt. */
export const hashList = (files: readonly { readonly name: string; readonly sha256: string }[]): string =>
  files
    .toSorted(byName)
    .map(({ name, sha256 }) => `${sha256}  ${name}\n`)
    .join('');

/** What stands in receipt.json. @throws ReceiptError. */
export const readReceipt = (files: ReceiptFiles): Receipt => readFile(files, RECEIPT_FILES.receipt, receiptShape);
/** The run as the coordinator showed it. @throws ReceiptError. */
export const readStatedView = (files: ReceiptFiles): RunView => readFile(files, RECEIPT_FILES.view, runView);
/** @throws ReceiptError. */
export const readOrder = (files: ReceiptFiles, run: string, device: string, suite: string): z.infer<typeof receiptOrder> =>
  readFile(files, orderFile(run, device, suite), receiptOrder);

/** What one attempt posted for a leg; nulls where it posted nothing. @throws ReceiptError. */
export function readLeg(
  files: ReceiptFiles,
  run: string,
  { device, suite }: { readonly device: string; readonly suite: string },
  attempt: number,
  index: number,
): { measure: LegMeasure | null; records: string | null; log: string | null } {
  const nameOf = (file: LegFile): string => legFile(run, device, suite, attempt, index, file);
  const measure = nameOf('measure.json');
  return {
    measure: files.has(measure) ? readFile(files, measure, legMeasure) : null,
    records: files.get(nameOf('records.ndjson')) ?? null,
    log: files.get(nameOf('log.txt')) ?? null,
  };
}

/** A text that has to be there. @throws ReceiptError. */
export function fileText(files: ReceiptFiles, name: string): string {
  const text = files.get(name);
  if (text === undefined) throw new ReceiptError(`the receipt holds no ${name}`);
  return text;
}

/** Files that are made from the raw ones, and the list of these. */
const RENDERED: ReadonlySet<string> = new Set([RECEIPT_FILES.hashes, RECEIPT_FILES.view, RECEIPT_FILES.markdown, RECEIPT_FILES.csv]);

/** How many raw files there are. */
export const countRaw = (files: ReceiptFiles): number => [...files.keys()].filter((name) => !RENDERED.has(name)).length;

/** Raw files whose content is not what the list states, that the list lacks, or that are gone; sorted. @throws ReceiptError without a list. */
export function changedFiles(files: ReceiptFiles): string[] {
  const listed = new Map<string, string>();
  for (const line of fileText(files, RECEIPT_FILES.hashes).split('\n')) {
    const parts = /^([0-9a-f]{64}) {2}(.+)$/.exec(line);
    if (parts) listed.set(parts[2]!, parts[1]!);
    else if (line !== '') throw new ReceiptError(`${RECEIPT_FILES.hashes} has a line that is none of sha256sum's: ${line.slice(0, 80)}`);
  }
  const names = new Set([...listed.keys(), ...[...files.keys()].filter((name) => !RENDERED.has(name))]);
  return [...names].filter((name) => !files.has(name) || sha256Hex(files.get(name)!) !== listed.get(name)).toSorted();
}

function readFile<S extends z.ZodType>(files: ReceiptFiles, name: string, schema: S): z.output<S> {
  const text = fileText(files, name);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ReceiptError(`${name} is not JSON: ${(cause as Error).message}`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new ReceiptError(`${name} is not as a receipt has it: ${issue.path.map(String).join('.')}: ${issue.message}`);
}

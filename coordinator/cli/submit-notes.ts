/** What a submitter should know of a run that was accepted all the same: one line each, on stderr. */
import { canonicalJson } from '../core/canonical.ts';
import type { DeviceView } from '../protocol/agent.ts';
import type { ArmRequest } from '../protocol/run.ts';

export interface Submitted {
  readonly arms: readonly (ArmRequest & { readonly tree: string })[];
  /** Commit that is checked out. */
  readonly checkedOut: string;
  /** How many files differ from it. */
  readonly edits: number;
  readonly devices: readonly DeviceView[];
  /** The devices were named one by one, and each is served. */
  readonly named: boolean;
}

/** @returns the notes, most serious first. */
export function submitNotes({ arms, checkedOut, edits, devices, named }: Submitted): string[] {
  const notes: string[] = [];
  if (edits > 0 && arms.some((arm) => arm.head === checkedOut)) {
    const [files, are] = edits === 1 ? ['1 changed file', 'is'] : [`${edits} changed files`, 'are'];
    notes.push(`${files} ${are} not committed and ${are} not tested. next: git commit, then submit again`);
  }
  for (const [at, arm] of arms.entries()) {
    const same = arms.slice(0, at).find((other) => other.tree === arm.tree && canonicalJson(other.settings) === canonicalJson(arm.settings));
    if (same === undefined) continue;
    const who = arms.length === 2 ? 'both arms are' : `${same.label} and ${arm.label} are both`;
    const what = same.head === arm.head ? `commit ${arm.head.slice(0, 12)}` : `the files of commit ${arm.head.slice(0, 12)}`;
    notes.push(`${who} ${what} with the same settings: this measures noise only`);
  }
  if (!named) for (const device of devices) if (!device.live) notes.push(`nobody serves device ${device.device} now: ${device.note}`);
  return notes;
}

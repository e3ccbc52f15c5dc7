/** One line that says where a job stands, the same in `status` and in the progress of a waiting command. */
import type { DeviceView } from '../protocol/agent.ts';
import type { JobView } from '../protocol/run.ts';
import { plain } from './output.ts';

/**
 * State, leg i of n, the lock's holder and file while it waits, and retries.
 * @param device the device's own report, for the lock file and a silent agent; absent where nobody registered it.
 */
export function jobLine(job: JobView, device?: DeviceView): string {
  const posted = job.legs.filter((leg) => leg.measure !== null).length;
  const parts: string[] = [job.state];
  switch (job.state) {
    case 'running':
      parts.push(posted < job.legs.length ? `leg ${posted + 1} of ${job.legs.length}` : `${posted} of ${job.legs.length} legs are in`);
      break;
    case 'waiting-lock':
      // The agent's note names file and holder; before it comes, the device's own file is known.
      if (!device || !job.note.includes(device.lockPath)) parts.push(`for ${device?.lockPath ?? 'the GPU lock'}`);
      break;
    case 'judged':
    case 'failed':
      parts.push(job.verdicts.map((entry) => (job.verdicts.length > 1 ? `${entry.candidate} ${entry.verdict}` : entry.verdict)).join(', '));
      break;
    case 'queued':
    case 'preparing':
      break;
  }
  // A judged job's note is about its making; the verdict has its own reason.
  if (job.note !== '' && job.state !== 'judged') parts.push(plain(job.note));
  if (job.attempts.length > 1) parts.push(`attempt ${job.attempts.length}${lostAttempt(job)}`);
  if (device && !device.live && job.state !== 'judged' && job.state !== 'failed') parts.push(`no heartbeat from ${device.device} since ${device.lastSeenAt}`);
  return parts.filter(Boolean).join(', ');
}

function lostAttempt(job: JobView): string {
  const before = job.attempts.filter((attempt) => attempt.state === 'failed' || attempt.state === 'superseded').at(-1);
  return before?.note ? ` (attempt ${before.number}: ${plain(before.note)})` : '';
}

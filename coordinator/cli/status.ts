import type { Command } from 'commander';
import { z } from 'zod';
import { deviceView, type DeviceView } from '../protocol/agent.ts';
import { runSummary, runView } from '../protocol/run.ts';
import { deviceTable } from './devices.ts';
import { jobLine } from './job-line.ts';
import { clientOf, runArgument, withService, type ServiceFlags } from './options.ts';
import { print, printJson, table } from './output.ts';

/** `fleet status`: the newest runs and every device; `fleet status RUN`: each of its jobs. */
export function registerStatus(program: Command): void {
  const command = program
    .command('status')
    .description('what is running, waiting and done')
    .argument('[run]', 'run id (default: the newest runs)', runArgument);
  withService(command).action(async (run: string | undefined, flags: ServiceFlags) => {
    const client = clientOf(flags);
    const devices = await client.get('/api/devices', z.array(deviceView));
    if (run !== undefined) {
      const view = await client.get(`/api/runs/${run}`, runView);
      const of = (name: string): DeviceView | undefined => devices.find((entry) => entry.device === name);
      const jobs = view.jobs.map((job) => ({ job: job.job, device: job.device, suite: job.suite, state: job.state, status: jobLine(job, of(job.device)) }));
      if (flags.json) {
        const named = new Set(view.jobs.map((job) => job.device));
        printJson({
          schema: 1,
          run: view.run,
          url: view.url,
          ...(view.calibrates ? { calibrates: true } : {}),
          done: view.done,
          jobs,
          devices: devices.filter((entry) => named.has(entry.device)),
        });
        return;
      }
      print(
        `${view.run}  ${view.calibrates ? 'A/A calibration of ' : ''}${view.arms.map((arm) => arm.label).join(' against ')}  ${view.done ? 'done' : 'not done'}  ${view.url}`,
      );
      print(
        table(
          ['device', 'suite', 'status', 'the device now'],
          jobs.map((job) => [job.device, job.suite, job.status, doing(of(job.device), job.job)]),
        ),
      );
      return;
    }
    const runs = await client.get('/api/runs', z.array(runSummary));
    if (flags.json) return printJson({ schema: 1, runs, devices });
    print(
      table(
        ['run', 'submitted', 'arms', 'device', 'suite', 'status'],
        runs.flatMap((summary) =>
          summary.jobs.map((job) => {
            const status =
              job.verdicts.length > 0
                ? [(summary.calibrates ? 'A/A: ' : '') + job.verdicts.join(', ')]
                : [job.state, `${job.legsDone} of ${job.legs} legs`, job.note];
            return [
              summary.run + (summary.imported === undefined ? '' : ' (imported)'),
              summary.submittedAt,
              (summary.calibrates ? 'A/A calibration: ' : '') + summary.arms.join(' against '),
              job.device,
              job.suite,
              status.filter(Boolean).join(', '),
            ];
          }),
        ),
      ),
    );
    print('');
    print(deviceTable(devices));
  });
}

/** What the job's device does at this moment: this job, another, or nothing. */
function doing(device: DeviceView | undefined, job: string): string {
  if (!device) return 'nobody serves it';
  if (!device.live) return `${device.activity === 'stopped' ? 'stopped' : 'no agent'} (last seen ${device.lastSeenAt})`;
  if (device.job === null || device.job === job) return device.activity;
  return `${device.activity} for ${device.job}`;
}

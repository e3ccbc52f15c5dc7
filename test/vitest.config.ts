/**
 * Two projects, run one after the other in one command: `room` needs nothing but Node; `system` needs Redis, git, a Vulkan driver or a
 * browser. Files of `system` run one at a time, since they share two cores and the software GPU's lock.
 */
import { defineConfig } from 'vitest/config';
import { unpackedSoftwareDriver } from '../engine/gpu/driver-files.ts';

// Tests open adapters in their own process, which must be started with the unpacked loader where the host has none.
const loader = unpackedSoftwareDriver()?.env['LD_LIBRARY_PATH'];
if (loader !== undefined) process.env['LD_LIBRARY_PATH'] = loader;

const rooms = ['agent', 'coordinator', 'db', 'engine', 'kernels', 'web'];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'room', include: [...rooms.map((room) => `${room}/**/*.test.{ts,tsx}`), 'test/*.test.ts'], testTimeout: 30_000, hookTimeout: 60_000 } },
      {
        test: {
          name: 'system',
          include: ['test/{gpu,system,browser}/**/*.test.{ts,tsx}'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

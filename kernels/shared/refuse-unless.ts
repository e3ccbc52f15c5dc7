import { LaunchRefused } from '../contract.ts';

/** WebGPU's default limit on workgroups in one dimension of a dispatch, which every adapter grants. */
export const MAX_WORKGROUPS = 65_535;

/** @throws LaunchRefused saying which kernel declines the shape and what it would serve, unless `served`. */
export function refuseUnless(served: boolean, kernel: string, need: string): void {
  if (!served) throw new LaunchRefused(`${kernel}: ${need}; choose a shape within that or another variant`);
}

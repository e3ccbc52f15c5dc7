/** Getting git objects to the coordinator: ask what it has, send a bundle of the rest. */
import { z } from 'zod';
import { sha1 } from './ids.ts';

/** At most so many commits are named in one request. */
export const MAX_COMMITS = 2000;

/** POST /api/heads/have. Callers list the heads and their recent ancestors, so that the bundle can be cut there. */
export const haveRequest = z.strictObject({ commits: z.array(sha1).min(1).max(MAX_COMMITS) });
export const haveResponse = z.object({ present: z.array(sha1) });

/** POST /api/heads/bundle?head=SHA…: body is a git bundle, streamed, at most `MAX_BUNDLE_BYTES`. */
export const bundleResponse = z.object({ heads: z.array(sha1) });
export const MAX_BUNDLE_BYTES = 512 * 1024 * 1024;

/** What every record has, and the types that several records share. Imports zod only. */
import { z } from 'zod';

/** The version that this engine writes. */
export const RECORD_SCHEMA = 1;

/** A later schema may mean something else by a name: better unread than misread. */
export const base = { schema: z.int().min(1).max(RECORD_SCHEMA, `a newer engine wrote this; schemas up to ${RECORD_SCHEMA} are known here`) };
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const milliseconds = z.number().nonnegative();

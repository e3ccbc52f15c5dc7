/**
 * Bits of a vector that Mesa's llvmpipe (lavapipe) compiles for, where LP_NATIVE_VECTOR_WIDTH does not say. Its own choice on AVX2, 256, takes
 * two to four times as long to compile a shader with barriers (gdn-step's contract: 45 s, and 13 at 128) and no less to run: 64 steps of
 * decode took 11.2 s, and 7.1 at 128. Digests are equal. The adapter's name says which it is.
 */
const LLVMPIPE_VECTOR_BITS = '128';

/** Variables that software drivers are to see, in the engine's own process and in a head's; a driver that is not there ignores them. What `env` has is kept. */
export function driverVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return { LP_NATIVE_VECTOR_WIDTH: env['LP_NATIVE_VECTOR_WIDTH'] ?? LLVMPIPE_VECTOR_BITS };
}

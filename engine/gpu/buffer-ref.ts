/** A whole buffer, or its part from `offset` bytes (a multiple of 256) on. */
export type BufferRef = GPUBuffer | { readonly buffer: GPUBuffer; readonly offset: number };

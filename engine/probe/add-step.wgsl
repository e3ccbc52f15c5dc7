// The least that a dispatch can do and still depend on the one before it: after = before + STEP, 64 words.
override STEP: u32 = 1u;

@group(0) @binding(0) var<storage, read> before: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> after: array<u32, 64>;

@compute @workgroup_size(64)
fn add_step(@builtin(local_invocation_index) lane: u32) {
  after[lane] = before[lane] + STEP;
}

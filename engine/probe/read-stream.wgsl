// Reads a buffer once, every word, 16 bytes a load, and adds up what it read: the sum shows that nothing was skipped.
override VECTORS: u32 = 16u; // vec4 loads of one lane, a multiple of 4
const LANES = 256u;

@group(0) @binding(0) var<storage, read> data: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sum: atomic<u32>;

var<workgroup> partial: array<u32, LANES>;

@compute @workgroup_size(LANES)
fn read_stream(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let count = arrayLength(&data);
  let first = (group.y * groups.x + group.x) * LANES * VECTORS + lane;
  var acc = vec4<u32>();
  for (var i = 0u; i < VECTORS; i += 4u) {
    let at = first + i * LANES;
    // Four loads in flight; sizes are whole multiples of a workgroup's share, so that a group is inside or outside.
    if (at + 3u * LANES < count) {
      acc += (data[at] + data[at + LANES]) + (data[at + 2u * LANES] + data[at + 3u * LANES]);
    }
  }
  partial[lane] = acc.x + acc.y + acc.z + acc.w;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      partial[lane] += partial[lane + half];
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    atomicAdd(&sum, partial[0]);
  }
}

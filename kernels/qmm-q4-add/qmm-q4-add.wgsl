// out[col] = residual[col] + sum over i of x[i] * w[col, i]: a 4-bit product of one row and the residual addition in one launch. The
// product is that of shared/split-k.wgsl, so that the chain of qmm-q4 of its family and residual-add gives the same bits.

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> codes: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> biases: array<u32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

// The same buffers, sixteen bytes a load.
@group(0) @binding(0) var<storage, read> x_vec4: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> codes_vec4: array<vec4<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.x * TEAMS * OUTPUTS;
  let first = base + lane / TEAM * OUTPUTS;
  let slices = params.k / 32u;
  var share = share_of_x(0u, params.k, 0u, lane);
  var held = hold(first, params.n, lane % TEAM, 0u, slices);
  var sums = vec4<f32>();
  for (var stage = 0u; stage < STAGES; stage++) {
    stage_share(share, lane, params.k);
    workgroupBarrier();
    var next = held;
    if (stage + 1u < STAGES) {
      share = share_of_x(0u, params.k, stage + 1u, lane);
      next = hold(first, params.n, lane % TEAM, stage + 1u, slices);
    }
    sums = add_stage(sums, held, first, lane % TEAM, stage, slices);
    if (stage + 1u < STAGES) {
      held = next;
      workgroupBarrier();
    }
  }
  gather_lanes(sums, lane);
  if (lane < TEAMS * OUTPUTS && base + lane < params.n) {
    out[base + lane] = residual[base + lane] + team_sum(lane);
  }
}

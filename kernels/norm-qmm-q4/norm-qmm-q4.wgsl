// y[col] = sum over i of n[i] * w[col, i] with n = x / sqrt(mean of x^2 + eps) * norm: rms-norm and a 4-bit product of one row in one
// launch. Every workgroup norms the row again: it is in the cache, and waiting for weights takes longer (shared/norm-stage.wgsl). The
// product is that of shared/split-k.wgsl, so that the chain of rms-norm and qmm-q4 of its family gives the same bits. A workgroup makes `blocks` blocks of outputs, one after the other, of a row normed once.

struct Params {
  n: u32,
  k: u32,
  blocks: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> norm: array<f32>;
@group(0) @binding(2) var<storage, read> codes: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<u32>;
@group(0) @binding(4) var<storage, read> biases: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

// The same buffers, sixteen bytes a load.
@group(0) @binding(0) var<storage, read> x_vec4: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> norm_vec4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> codes_vec4: array<vec4<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.x * params.blocks * TEAMS * OUTPUTS;
  var first = base + lane / TEAM * OUTPUTS;
  let slices = params.k / 32u;
  let squared = squared_by(params.k, 0u, lane);
  var share = share_of_x(0u, params.k, 0u, lane);
  var weight = share_of_norm(params.k, 0u, lane);
  var held = hold(first, params.n, lane % TEAM, 0u, slices);
  let scale = norm_scale(squared, params.k, params.eps, lane);
  for (var b = 0u; b < params.blocks; b++) {
    let after = first + TEAMS * OUTPUTS;
    var next = held;
    var sums = vec4<f32>();
    for (var stage = 0u; stage < STAGES; stage++) {
      // A row of one stage stays where it is for all blocks, and needs no barrier again.
      if (b == 0u || STAGES > 1u) {
        stage_share(normed(share, weight, scale), lane, params.k);
        workgroupBarrier();
      }
      let then = (stage + 1u) % STAGES;
      if (STAGES > 1u) {
        share = share_of_x(0u, params.k, then, lane);
        weight = share_of_norm(params.k, then, lane);
      }
      // What comes next, of this block or the next one, is on its way while products are made.
      if (then > 0u || b + 1u < params.blocks) {
        next = hold(select(first, after, then == 0u), params.n, lane % TEAM, then, slices);
      }
      sums = add_stage(sums, held, first, lane % TEAM, stage, slices);
      if (then > 0u) {
        held = next;
        workgroupBarrier();
      }
    }
    held = next;
    first = after;
    gather_lanes(sums, lane);
    let output = base + b * TEAMS * OUTPUTS + lane;
    if (lane < TEAMS * OUTPUTS && output < params.n) {
      y[output] = team_sum(lane);
    }
  }
}

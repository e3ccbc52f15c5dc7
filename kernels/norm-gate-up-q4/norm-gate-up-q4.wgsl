// out[col] = silu(g[col]) * u[col] with g and u the products of the normed row with rows col and upRow + col of w: the first half of the
// MLP of one row in one launch. Norm, products and silu are those of rms-norm, qmm-q4 of its family and silu-mul, operation by operation, so
// that their chain gives the same bits (shared/norm-stage.wgsl, shared/split-k.wgsl).
// A team makes OUTPUTS rows of one half of w: the first half of the teams those of gate, the second those of up, and the lane that writes has both.

struct Params {
  n: u32,
  k: u32,
  upRow: u32,
  blocks: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> norm: array<f32>;
@group(0) @binding(2) var<storage, read> codes: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<u32>;
@group(0) @binding(4) var<storage, read> biases: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

// The same buffers, sixteen bytes a load.
@group(0) @binding(0) var<storage, read> x_vec4: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> norm_vec4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> codes_vec4: array<vec4<u32>>;

const HALF = 4u; // teams of gate, and of up

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.x * params.blocks * HALF * OUTPUTS;
  let team = lane / TEAM;
  let isUp = team >= HALF;
  var first = select(0u, params.upRow, isUp) + base + team % HALF * OUTPUTS;
  let end = params.upRow + params.n;
  let slices = params.k / 32u;
  let squared = squared_by(params.k, 0u, lane);
  var share = share_of_x(0u, params.k, 0u, lane);
  var weight = share_of_norm(params.k, 0u, lane);
  var held = hold(first, end, lane % TEAM, 0u, slices);
  let scale = norm_scale(squared, params.k, params.eps, lane);
  for (var b = 0u; b < params.blocks; b++) {
    let after = first + HALF * OUTPUTS;
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
        next = hold(select(first, after, then == 0u), end, lane % TEAM, then, slices);
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
    let output = base + b * HALF * OUTPUTS + lane;
    if (lane < HALF * OUTPUTS && output < params.n) {
      let gate = team_sum(lane);
      out[output] = gate * sigmoid(gate) * team_sum(HALF * OUTPUTS + lane);
    }
  }
}

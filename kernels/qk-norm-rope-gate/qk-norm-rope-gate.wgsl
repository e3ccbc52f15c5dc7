// One workgroup makes one head of one row: the query heads first (each with its gate), then the key heads.
// Operations and their order are those of qk-norm and rope, so that the chain of the two gives the same bits; rotated elements pass
// through workgroup memory, since an element's partner belongs to another lane.
// Reduction: lane t sums squares of elements t, t+64, … in rising order (ceil(headDim/64) additions), then a workgroup tree
// of 6 levels adds lane pairs 32, 16, 8, 4, 2, 1 apart. Depth: ceil(headDim/64) + 6. Rotation: a product and an fma.
struct Params {
  rows: u32,
  heads: u32,
  kvHeads: u32,
  headDim: u32,
  rotary: u32,
  context: u32,
  qStride: u32,
  kStride: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> qg: array<f32>;
@group(0) @binding(1) var<storage, read> kProj: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> table: array<f32>;
@group(0) @binding(4) var<storage, read> position: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> k: array<f32>;
@group(0) @binding(7) var<storage, read_write> gate: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;

const LANES = 64u;
const MOST_ROTARY = 512u;
var<workgroup> sums: array<f32, LANES>;
var<workgroup> turning: array<f32, MOST_ROTARY>;

fn element(isKey: bool, at: u32) -> f32 {
  if (isKey) {
    return kProj[at];
  }
  return qg[at];
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = group.y;
  let isKey = group.x >= params.heads;
  var head = group.x;
  var source = row * params.qStride + head * 2u * params.headDim;
  var destination = (row * params.heads + head) * params.headDim;
  var weights = 0u;
  if (isKey) {
    head = group.x - params.heads;
    source = row * params.kStride + head * params.headDim;
    destination = (row * params.kvHeads + head) * params.headDim;
    weights = params.headDim;
  }

  var sum = 0.0;
  for (var i = lane; i < params.headDim; i += LANES) {
    let value = element(isKey, source + i);
    sum = fma(value, value, sum);
  }
  sums[lane] = sum;
  workgroupBarrier();
  for (var apart = LANES / 2u; apart > 0u; apart /= 2u) {
    if (lane < apart) {
      sums[lane] += sums[lane + apart];
    }
    workgroupBarrier();
  }

  let factor = inverseSqrt(sums[0] / f32(params.headDim) + params.eps);
  for (var i = lane; i < params.rotary; i += LANES) {
    turning[i] = element(isKey, source + i) * factor * weight[weights + i];
  }
  workgroupBarrier();

  let half = params.rotary / 2u;
  let at = position[0] + row;
  let angle = at * params.rotary;
  for (var i = lane; i < params.headDim; i += LANES) {
    // A row whose position is past the table stays zero, whatever it holds.
    var made = 0.0;
    if (at < params.context) {
      if (i < half) {
        made = fma(turning[i], table[angle + i], -(turning[i + half] * table[angle + half + i]));
      } else if (i < params.rotary) {
        made = fma(turning[i], table[angle + i - half], turning[i - half] * table[angle + i]);
      } else {
        made = element(isKey, source + i) * factor * weight[weights + i];
      }
    }
    if (isKey) {
      k[destination + i] = made;
    } else {
      q[destination + i] = made;
      gate[destination + i] = qg[source + params.headDim + i];
    }
  }
}

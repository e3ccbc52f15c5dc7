// What a chunk of 16 rows needs of its keys and queries alone, so that all chunks and heads run at once and the walk over the
// chunks (gdn-prefill-chunked) is left with what depends on the state. Lane (m, i) owns row i and column m of both matrices.
// Decays are exps of sums of the log decays between two rows: never above 1, and no difference of large sums.
// Reduction of k_i·k_m and q_i·k_m: 4 strided sums of ceil(dk/4) products in rising order, then the 4 in order. Depth: ceil(dk/4) + 4.
// T by forward substitution, one lane a column, i − m products an element in rising order.
struct Params {
  rows: u32,
  kHeads: u32,
  vHeads: u32,
  quads: u32, // dk / 4
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(0) var<storage, read> q_quads: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(1) var<storage, read> k_quads: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> g: array<f32>;
@group(0) @binding(3) var<storage, read> beta: array<f32>;
@group(0) @binding(4) var<storage, read_write> mixes: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

const ROWS = 16u;
const MIDDLE = 8u;
const SEGMENT = 16u; // quads of a row that are in workgroup memory at once
const STRIDE = 17u; // one more, so that rows start in different banks
const TILE = 272u; // ROWS · STRIDE
const SQUARE = 256u; // ROWS · ROWS

var<workgroup> queries: array<vec4<f32>, TILE>;
var<workgroup> keys: array<vec4<f32>, TILE>;
var<workgroup> lower: array<f32, SQUARE>;
var<workgroup> inverse: array<f32, SQUARE>;

fn total(parts: vec4<f32>) -> f32 {
  return parts.x + parts.y + parts.z + parts.w;
}

@compute @workgroup_size(ROWS, ROWS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let m = local.x;
  let head = group.y;
  let kHead = head * params.kHeads / params.vHeads;
  let start = group.x * ROWS;
  // Lanes past the last row repeat it, to the bit.
  let i = min(local.y, params.rows - 1u - start);
  let row = start + i;

  var query_key = vec4<f32>();
  var key_key = vec4<f32>();
  for (var first = 0u; first < params.quads; first += SEGMENT) {
    let width = min(SEGMENT, params.quads - first);
    if (m < width) {
      let at = (row * params.kHeads + kHead) * params.quads + first + m;
      queries[i * STRIDE + m] = q_quads[at];
      keys[i * STRIDE + m] = k_quads[at];
    }
    workgroupBarrier();
    for (var d = 0u; d < width; d++) {
      let key = keys[m * STRIDE + d];
      query_key += queries[i * STRIDE + d] * key;
      key_key += keys[i * STRIDE + d] * key;
    }
    workgroupBarrier();
  }

  // Nothing above the diagonal: inverse was never written there and is zero.
  var weight = 0.0;
  if (m <= i) {
    var log_decay = 0.0;
    for (var t = m + 1u; t <= i; t++) {
      log_decay += g[(start + t) * params.vHeads + head];
    }
    let decay = exp(log_decay);
    weight = decay * total(query_key);
    lower[i * ROWS + m] = beta[row * params.vHeads + head] * (decay * total(key_key));
  }
  workgroupBarrier();
  // A middle row's lanes: where a driver runs lanes in order, a barrier missed on either side shows.
  if (local.y == MIDDLE) {
    for (var r = m; r < ROWS; r++) {
      var sum = select(0.0, 1.0, r == m);
      for (var t = m; t < r; t++) {
        sum -= lower[r * ROWS + t] * inverse[t * ROWS + m];
      }
      inverse[r * ROWS + m] = sum;
    }
  }
  workgroupBarrier();

  let at = (row * params.vHeads + head) * 2u * ROWS + m;
  mixes[at] = inverse[i * ROWS + m];
  mixes[at + ROWS] = weight;
}

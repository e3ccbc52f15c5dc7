// result = [id, 1 if every logit is finite else 0, index of the first logit that is not or 0xffffffff, 0]
//
// Works on the bits, since comparisons with NaN and tests such as x != x are not to be relied on. `id` is the lowest index
// of the largest finite logit (-0 counts as +0), or 0xffffffff where none is finite. One workgroup reads the whole row.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

const LANES = 256u;
const NONE = 0xffffffffu;

var<workgroup> best_key: array<u32, LANES>;
var<workgroup> best_index: array<u32, LANES>;
var<workgroup> first_bad: array<u32, LANES>;

@compute @workgroup_size(256)
fn argmax(@builtin(local_invocation_index) lane: u32) {
  var key = 0u;
  var index = NONE;
  var bad = NONE;
  for (var i = lane; i < params.n; i += LANES) {
    let bits = logits[i];
    if ((bits & 0x7f800000u) == 0x7f800000u) {
      bad = min(bad, i);
    } else if (ordered(bits) > key) {
      key = ordered(bits);
      index = i;
    }
  }
  best_key[lane] = key;
  best_index[lane] = index;
  first_bad[lane] = bad;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      let other_key = best_key[lane + half];
      let other_index = best_index[lane + half];
      if (other_key > best_key[lane] || (other_key == best_key[lane] && other_index < best_index[lane])) {
        best_key[lane] = other_key;
        best_index[lane] = other_index;
      }
      first_bad[lane] = min(first_bad[lane], first_bad[lane + half]);
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    result[0] = best_index[0];
    result[1] = select(0u, 1u, first_bad[0] == NONE);
    result[2] = first_bad[0];
    result[3] = 0u;
  }
}

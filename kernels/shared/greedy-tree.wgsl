// What 256 lanes found among logits, brought together in lane 0 of each array: the key of the largest finite one with its lowest index, the
// first that is not finite, and two checksums. All integers, so that no order matters.
const LANES = 256u;
const NONE = 0xffffffffu;

var<workgroup> best_key: array<u32, LANES>;
var<workgroup> best_index: array<u32, LANES>;
var<workgroup> first_bad: array<u32, LANES>;
var<workgroup> sum_a: array<u32, LANES>;
var<workgroup> sum_b: array<u32, LANES>;

fn gather_greedy(lane: u32, key: u32, index: u32, bad: u32, a: u32, b: u32) {
  best_key[lane] = key;
  best_index[lane] = index;
  first_bad[lane] = bad;
  sum_a[lane] = a;
  sum_b[lane] = b;
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
      sum_a[lane] += sum_a[lane + half];
      sum_b[lane] += sum_b[lane + half];
    }
    workgroupBarrier();
  }
}

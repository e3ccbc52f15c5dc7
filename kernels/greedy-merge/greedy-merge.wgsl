// Merges the spans of greedy-parts: result = argmax's four words, checksum = logits-checksum's two.

struct Params {
  spans: u32,
}

@group(0) @binding(0) var<storage, read> parts: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read_write> checksum: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

const LANES = 256u;
const NONE = 0xffffffffu;

var<workgroup> best_key: array<u32, LANES>;
var<workgroup> best_index: array<u32, LANES>;
var<workgroup> first_bad: array<u32, LANES>;
var<workgroup> sum_a: array<u32, LANES>;
var<workgroup> sum_b: array<u32, LANES>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32) {
  var key = 0u;
  var index = NONE;
  var bad = NONE;
  var a = 0u;
  var b = 0u;
  for (var span = lane; span < params.spans; span += LANES) {
    // Spans rise, so that of equal keys the first has the lowest index.
    if (parts[span * 5u] > key) {
      key = parts[span * 5u];
      index = parts[span * 5u + 1u];
    }
    bad = min(bad, parts[span * 5u + 2u]);
    a += parts[span * 5u + 3u];
    b += parts[span * 5u + 4u];
  }
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
  if (lane == 0u) {
    result[0] = best_index[0];
    result[1] = select(0u, 1u, first_bad[0] == NONE);
    result[2] = first_bad[0];
    result[3] = 0u;
    checksum[0] = sum_a[0];
    checksum[1] = sum_b[0];
  }
}

// Merges the spans of greedy-parts: result = argmax's four words, checksum = logits-checksum's two.

struct Params {
  spans: u32,
}

@group(0) @binding(0) var<storage, read> parts: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read_write> checksum: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

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
  gather_greedy(lane, key, index, bad, a, b);
  if (lane == 0u) {
    result[0] = best_index[0];
    result[1] = select(0u, 1u, first_bad[0] == NONE);
    result[2] = first_bad[0];
    result[3] = 0u;
    checksum[0] = sum_a[0];
    checksum[1] = sum_b[0];
  }
}

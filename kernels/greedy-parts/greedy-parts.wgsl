// What argmax and logits-checksum find in each span of SPAN logits, one workgroup a span: five words a span, [key of the largest finite
// logit, its lowest index, index of the first logit that is not finite, checksum a, checksum b], merged by greedy-merge. All of it is
// integers, so that no order matters and both give what argmax and logits-checksum give.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> parts: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

const SPAN = 1024u;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let span = group.x;
  var key = 0u;
  var index = NONE;
  var bad = NONE;
  var a = 0u;
  var b = 0u;
  for (var i = span * SPAN + lane; i < min(params.n, (span + 1u) * SPAN); i += LANES) {
    let bits = logits[i];
    if ((bits & 0x7f800000u) == 0x7f800000u) {
      bad = min(bad, i);
    } else if (ordered(bits) > key) {
      key = ordered(bits);
      index = i;
    }
    a += checksum_a(bits, i);
    b += checksum_b(bits, i);
  }
  gather_greedy(lane, key, index, bad, a, b);
  if (lane == 0u) {
    parts[span * 5u] = best_key[0];
    parts[span * 5u + 1u] = best_index[0];
    parts[span * 5u + 2u] = first_bad[0];
    parts[span * 5u + 3u] = sum_a[0];
    parts[span * 5u + 4u] = sum_b[0];
  }
}

// result = two sums (mod 2^32) over i of mix(bits[i], i)
//
// For a fixed i each mix is a bijection of the word, so one changed word always changes both sums; the position enters each
// sum in another way, so a swap that one sum misses the other sees. Wrapping addition makes the order of lanes irrelevant.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

const LANES = 256u;

var<workgroup> sum_a: array<u32, LANES>;
var<workgroup> sum_b: array<u32, LANES>;

@compute @workgroup_size(256)
fn logits_checksum(@builtin(local_invocation_index) lane: u32) {
  var a = 0u;
  var b = 0u;
  for (var i = lane; i < params.n; i += LANES) {
    let bits = logits[i];
    a += checksum_a(bits, i);
    b += checksum_b(bits, i);
  }
  sum_a[lane] = a;
  sum_b[lane] = b;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      sum_a[lane] += sum_a[lane + half];
      sum_b[lane] += sum_b[lane + half];
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    result[0] = sum_a[0];
    result[1] = sum_b[0];
  }
}

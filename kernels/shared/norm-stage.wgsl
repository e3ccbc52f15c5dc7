// RMS norm of one row of k elements on the way into workgroup memory, for products of split-k.wgsl. Reads x_vec4 and norm_vec4.
// Every operation is rms-norm's, in its order, so that the chain of the two gives the same bits: lane l of 256 adds the squares of
// vectors l, l + 256, … of four elements; sixteen lanes add sixteen neighbours each, in rising order; every lane adds the sixteen.

var<workgroup> squares: array<array<f32, 16>, 16>;
var<workgroup> branches: array<f32, 16>;

fn add_squares(sum: f32, v: vec4<f32>) -> f32 {
  return fma(v.w, v.w, fma(v.z, v.z, fma(v.y, v.y, fma(v.x, v.x, sum))));
}

// The norm's weights of a lane's share of a stage.
fn share_of_norm(k: u32, stage: u32, lane: u32) -> Share {
  let at = stage * STAGED / 4u + 2u * lane;
  let last = k / 4u - 1u;
  return Share(norm_vec4[min(at, last)], norm_vec4[min(at + 1u, last)]);
}

// Vectors lane and lane + SPLIT_LANES of a stage of x, whose squares the lane adds.
fn squared_by(k: u32, stage: u32, lane: u32) -> Share {
  let at = stage * STAGED / 4u + lane;
  let last = k / 4u - 1u;
  return Share(x_vec4[min(at, last)], x_vec4[min(at + SPLIT_LANES, last)]);
}

// 1 / sqrt(mean of squares + eps) of the row; `first` is what the lane adds of its first stage.
fn norm_scale(first: Share, k: u32, eps: f32, lane: u32) -> f32 {
  var share = first;
  var sum = 0.0;
  for (var stage = 0u; stage < STAGES; stage++) {
    if (stage > 0u) {
      share = squared_by(k, stage, lane);
    }
    let at = stage * STAGED / 4u + lane;
    if (at < k / 4u) {
      sum = add_squares(sum, share.a);
    }
    if (at + SPLIT_LANES < k / 4u) {
      sum = add_squares(sum, share.b);
    }
  }
  squares[lane / 16u][lane % 16u] = sum;
  workgroupBarrier();
  if (lane < 16u) {
    var branch = squares[lane][0];
    for (var i = 1u; i < 16u; i++) {
      branch += squares[lane][i];
    }
    branches[lane] = branch;
  }
  workgroupBarrier();
  var whole = branches[0];
  for (var i = 1u; i < 16u; i++) {
    whole += branches[i];
  }
  return inverseSqrt(whole / f32(k) + eps);
}

fn normed(share: Share, norm: Share, scale: f32) -> Share {
  return Share(share.a * scale * norm.a, share.b * scale * norm.b);
}

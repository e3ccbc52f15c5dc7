// What a workgroup that makes a tile of 128 rows by 128 columns is built from. Reads params.rows and params.n, writes y [rows, n].

// The two factors of a tile, sixteen elements of k at a time, rows or columns running.
const TILE = 128u;
const STEP = 16u;
var<workgroup> tile_x: array<array<vec4<f32>, 32>, 16>;
var<workgroup> tile_w: array<array<vec4<f32>, 32>, 16>;

// `weight` without a conversion from integer, a quarter of the rate of the rest on NVIDIA: 2^23 + q has q in the last bits of its significand.
fn tile_weight(code: u32, scale: f32, bias: f32) -> f32 {
  return fma(scale, bitcast<f32>((code & 15u) | 0x4b000000u) - 8388608.0, bias);
}

// acc[r][c] = fma(a[r], b[c], acc[r][c])
fn outer(acc: mat4x4<f32>, a: vec4<f32>, b: vec4<f32>) -> mat4x4<f32> {
  return mat4x4<f32>(fma(vec4<f32>(a.x), b, acc[0]), fma(vec4<f32>(a.y), b, acc[1]), fma(vec4<f32>(a.z), b, acc[2]), fma(vec4<f32>(a.w), b, acc[3]));
}

fn write_four(row: u32, col: u32, four: vec4<f32>) {
  if (row < params.rows) {
    let at = row * params.n + col;
    if (col < params.n) {
      y[at] = four.x;
    }
    if (col + 1u < params.n) {
      y[at + 1u] = four.y;
    }
    if (col + 2u < params.n) {
      y[at + 2u] = four.z;
    }
    if (col + 3u < params.n) {
      y[at + 3u] = four.w;
    }
  }
}

fn write_block(row: u32, col: u32, acc: mat4x4<f32>) {
  write_four(row, col, acc[0]);
  write_four(row + 1u, col, acc[1]);
  write_four(row + 2u, col, acc[2]);
  write_four(row + 3u, col, acc[3]);
}

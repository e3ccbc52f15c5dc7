// One lane copies one key element and one value element. No arithmetic: bit-exact. A row past the context is dropped.
struct Params {
  rows: u32,
  kvHeads: u32,
  headDim: u32,
  context: u32,
  vStride: u32,
  vOffset: u32,
}

@group(0) @binding(0) var<storage, read> k: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read> position: array<u32>;
@group(0) @binding(3) var<storage, read_write> kCache: array<f32>;
@group(0) @binding(4) var<storage, read_write> vCache: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let width = params.kvHeads * params.headDim;
  let at = position[0] + id.y;
  if (id.x >= width || at >= params.context) {
    return;
  }
  kCache[at * width + id.x] = k[id.y * width + id.x];
  vCache[at * width + id.x] = v[id.y * params.vStride + params.vOffset + id.x];
}

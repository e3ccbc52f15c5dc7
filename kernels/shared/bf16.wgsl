// bf16 values travel in pairs, the lower half first: element `index` of the flat list is half `index & 1` of its word.
fn bf16_half(word: u32, index: u32) -> f32 {
  return bitcast<f32>(select(word << 16u, word & 0xffff0000u, (index & 1u) == 1u));
}

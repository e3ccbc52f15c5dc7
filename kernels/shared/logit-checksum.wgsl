// The 32-bit finaliser of MurmurHash3 (public domain): a bijection.
fn mix32(word: u32) -> u32 {
  var h = word;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return h ^ (h >> 16u);
}

// The two terms of logits-checksum for the word at index i.
fn checksum_a(bits: u32, i: u32) -> u32 {
  return mix32(bits + (i + 1u) * 0x9e3779b1u);
}

fn checksum_b(bits: u32, i: u32) -> u32 {
  return mix32(bits ^ mix32(i + 0x27d4eb2fu));
}

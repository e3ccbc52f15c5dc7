// Finite bits as integers in the order of the values they stand for (-0 as +0); no finite value gives 0. Comparisons with NaN are
// not to be relied on, and these never see one.
fn ordered(bits: u32) -> u32 {
  let canonical = select(bits, 0u, bits == 0x80000000u);
  return select(canonical | 0x80000000u, ~canonical, (canonical & 0x80000000u) != 0u);
}

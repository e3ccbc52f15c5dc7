// 1 / (1 + e⁻ˣ). Takes exp of a number that is never positive, so that no magnitude of x overflows.
fn sigmoid(x: f32) -> f32 {
  let e = exp(-abs(x));
  return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

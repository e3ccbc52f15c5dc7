// max(x, 0) + log(1 + e) with e = exp(−|x|). WGSL's log is only bounded absolutely near 1, which would lose every digit for very
// negative x, so log(1 + e) is 2·atanh(z), z = e/(2+e) ≤ 1/3, by its series: z^17/17 is the first term left out, under 2e-9 of the sum.
// Every sum of a product is an fma: left to itself a compiler may contract one in one kernel and not in another.
fn softplus(x: f32) -> f32 {
  let e = exp(-abs(x));
  let z = e / (2.0 + e);
  let s = z * z;
  var series = fma(s, 1.0 / 15.0, 1.0 / 13.0);
  series = fma(s, series, 1.0 / 11.0);
  series = fma(s, series, 1.0 / 9.0);
  series = fma(s, series, 1.0 / 7.0);
  series = fma(s, series, 1.0 / 5.0);
  series = fma(s, series, 1.0 / 3.0);
  series = fma(s, series, 1.0);
  return fma(2.0 * z, series, max(x, 0.0));
}

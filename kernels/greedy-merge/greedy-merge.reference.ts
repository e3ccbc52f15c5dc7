/**
 * What spans [key, id, first, a, b] say of a whole row: `result` = [id, finite, first, 0] with the id of the largest key, the lowest of
 * those that share it, `finite` 1 when no span has a logit that is not finite and `first` the lowest of them or 0xffffffff;
 * `checksum` = [Σ a, Σ b] mod 2³². A key of 0 stands for no finite logit, with the id 0xffffffff.
 */
export function greedyMergeReference({ spans }: { spans: number }, { parts }: { parts: ArrayLike<number> }): { result: Uint32Array; checksum: Uint32Array } {
  const none = 0xffffffff;
  let [best, id, first, a, b] = [0, none, none, 0, 0];
  for (let span = 0; span < spans; span++) {
    const key = parts[span * 5]!;
    const at = parts[span * 5 + 1]!;
    if (key > best || (key === best && key > 0 && at < id)) [best, id] = [key, at];
    first = Math.min(first, parts[span * 5 + 2]!);
    a = (a + parts[span * 5 + 3]!) % 2 ** 32;
    b = (b + parts[span * 5 + 4]!) % 2 ** 32;
  }
  return { result: Uint32Array.of(id, first === none ? 1 : 0, first, 0), checksum: Uint32Array.of(a, b) };
}

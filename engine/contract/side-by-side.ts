/**
 * Works through items side by side, each with a worker of its own for as long as it takes, and hands every result over in the order of the items.
 * @param done is called once an item and all before it are finished.
 * @throws what the first failing item threw, once the others under way have ended; nothing more is begun then.
 */
export async function sideBySide<I, W, R>(
  items: readonly I[],
  workers: readonly W[],
  work: (item: I, worker: W) => Promise<R>,
  done: (result: R) => void,
): Promise<void> {
  const results = new Map<number, R>();
  let next = 0;
  let handed = 0;
  let failure: { readonly error: unknown } | undefined;
  const run = async (worker: W): Promise<void> => {
    while (next < items.length && !failure) {
      const index = next++;
      try {
        results.set(index, await work(items[index]!, worker));
        for (; results.has(handed); handed++) {
          done(results.get(handed)!);
          results.delete(handed);
        }
      } catch (error) {
        failure ??= { error };
        return;
      }
    }
  };
  await Promise.all(workers.map(run));
  if (failure) throw failure.error;
}

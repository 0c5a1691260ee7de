/** GitHub allows a hundred requests at once, of all reviews together. */
const AT_ONCE = 10;

/** What a request about each of them brings, in their order. */
export async function fewAtOnce<Item, Result>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  while (results.length < items.length) {
    results.push(...(await Promise.all(items.slice(results.length, results.length + AT_ONCE).map(ask))));
  }
  return results;
}

/** The known word that a misspelt one most likely means; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 40) {
    return undefined;
  }
  const wanted = normal(word);
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(wanted, normal(candidate));
    if (best === undefined || distance < best.distance) {
      best = { word: candidate, distance };
    }
  }
  // A third of the word may be wrong, and a word of two letters still gets one mistake.
  return best !== undefined && best.distance <= Math.max(1, Math.floor(wanted.length / 3)) ? best.word : undefined;
}

const normal = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, '');

/** Letters to add, drop, change or swap with their neighbour (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

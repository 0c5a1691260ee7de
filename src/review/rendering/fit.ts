/** How many of these texts, from the first, have no more characters than this in all. */
export function fittingCount(texts: readonly string[], maxLength: number): number {
  let length = 0;
  const first = texts.findIndex((text) => {
    length += text.length;
    return length > maxLength;
  });
  return first === -1 ? texts.length : first;
}

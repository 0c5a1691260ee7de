/** At most `limit` characters, the last of them an ellipsis where text was left out. Never half of a surrogate pair. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) {
    return text;
  }
  // A character is one or two code units, so this much decides, however long the text is.
  const characters = [...text.slice(0, 2 * limit + 1)];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

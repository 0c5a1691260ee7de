/** At most `limit` characters, the last an ellipsis where something was cut off. Never half a character. */
export function shortened(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

/** Matches a name as people wrote it, in any case, with `*` for any characters: `renovate[bot]`, `*[bot]`, `size/*`. */
export function compileName(name: string): { matches(text: string): boolean } {
  const [first = '', ...inner] = name.toLowerCase().split('*');
  const last = inner.pop();
  return {
    matches(text) {
      const lower = text.toLowerCase();
      if (last === undefined) {
        return lower === first;
      }
      const end = lower.length - last.length;
      let at = lower.startsWith(first) && lower.endsWith(last) ? first.length : Number.POSITIVE_INFINITY;
      for (const part of inner) {
        const found = lower.indexOf(part, at);
        at = found === -1 ? Number.POSITIVE_INFINITY : found + part.length;
      }
      return at <= end;
    },
  };
}

/** Lines of a and b as if thrown with a coin, always the same: what makes an automaton grow. */
export function noise(lines: number, length: number): readonly string[] {
  let seed = 7;
  const letter = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % 65_536 < 32_768 ? 'a' : 'b';
  };
  return Array.from({ length: lines }, () => Array.from({ length }, letter).join(''));
}

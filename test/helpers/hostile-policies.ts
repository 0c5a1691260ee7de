/** Policies that use up the time of a thread: what somebody can write who wants to stop Gatehouse. */

/** A policy of these rules, indented by four. */
export function policy(...rules: readonly string[]): string {
  return `version: 1\nrules:\n${rules.map((rule, index) => `  - id: rule-${index}\n${rule}\n`).join('')}`;
}

/** Each of these classes takes some milliseconds to compile, since the case of a million characters is folded. */
const SLOW_PATTERN = `(?i)${'[b-\\x{10fffe}]'.repeat(34)}`;
export const SLOW_TO_PARSE: string = policy(
  ...Array.from({ length: 40 }, (_, index) => `    require: { title: '${index}${SLOW_PATTERN}' }`),
);

/** For {@link noise}: the automaton has more states than there are characters in it, and no two places of it are alike. */
export const SLOW_TO_EVALUATE = `    forbid: { added_lines: '(a|b)*a(a|b){200}[^ab]' }`;

/** Lines of a and b in no order. */
export function noise(lines: number): string {
  let state = 1;
  const letter = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  };
  return Array.from({ length: lines }, () => `${Array.from({ length: 240 }, letter).join('')}\n`).join('');
}

/** Policies that use up the time of a thread: what somebody can write who wants to stop Gatehouse. */

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

export function noise(lines: number): string {
  let state = 1;
  const letter = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  };
  return Array.from({ length: lines }, () => `${Array.from({ length: 240 }, letter).join('')}\n`).join('');
}

export const MANY_RULES: string = policy(
  ...Array.from({ length: 100 }, () => `    require: { title: '^feat: ' }\n    message: it must be a feature`),
);

/** Cases that name rules which {@link MANY_RULES} does not have: 39,640 times in 30 kB, by aliases. */
export const MANY_UNKNOWN_RULES: string = [
  'cases:',
  '  - given: {}',
  '    expect: &all',
  ...Array.from({ length: 40 }, (_, index) => `      no${index}: holds`),
  ...Array.from({ length: 990 }, () => '  - {given: {}, expect: *all}'),
  '',
].join('\n');

/** A file of cases in which aliases repeat a key of 200,000 characters. */
export const LONG_KEYS: string = [
  'cases:',
  '  - given: {}',
  '    expect: &all',
  `      ? ${'a'.repeat(200_000)}`,
  '      : holds',
  ...Array.from({ length: 4_000 }, () => '  - {given: {}, expect: *all}'),
  '',
].join('\n');

import { either, say, type Text } from '../text.ts';

// What globs and names with `*` mean, for somebody who may not know them.

/** "the label `a` or `b`", "a label that matches `size/*`". */
export function named(noun: string, names: readonly string[]): Text {
  return names.some((name) => name.includes('*'))
    ? say`a ${[noun]} that matches ${either(names)}`
    : say`the ${[noun]} ${either(names)}`;
}

/** "a file in `test/**`", "`CHANGELOG.md`", "a file that matches `*.md`, but not `a.md`". */
export function aFile(globs: readonly string[]): Text {
  const { wanted, unwanted } = split(globs);
  const isNamed = wanted.length > 0 && wanted.every((glob) => !/[*?[\]{}\\]/.test(glob));
  return say`${isNamed ? either(wanted) : say`a file${within(wanted)}`}${butNot(unwanted)}`;
}

/** " in `src/**`, but not `src/gen/**`,", " outside `gen/**`", and nothing for all files. */
export function inFiles(globs: readonly string[] = []): Text {
  const { wanted, unwanted } = split(globs);
  if (wanted.length === 0) {
    return unwanted.length === 0 ? [] : say` outside ${either(unwanted)}`;
  }
  return say` in ${either(wanted)}${unwanted.length === 0 ? [] : say`${butNot(unwanted)},`}`;
}

/** "that matches `a/*`, but not `a/b`". */
export function matchingGlobs(globs: readonly string[]): Text {
  const { wanted, unwanted } = split(globs);
  return wanted.length === 0
    ? say`that doesn’t match ${either(unwanted)}`
    : say`that matches ${either(wanted)}${butNot(unwanted)}`;
}

/** "that doesn’t match `a/*`, or that matches `a/b`". */
export function notMatchingGlobs(globs: readonly string[]): Text {
  const { wanted, unwanted } = split(globs);
  if (wanted.length === 0) {
    return say`that matches ${either(unwanted)}`;
  }
  return say`that doesn’t match ${either(wanted)}${unwanted.length === 0 ? [] : say`, or that matches ${either(unwanted)}`}`;
}

function split(globs: readonly string[]) {
  const isUnwanted = (glob: string) => glob.startsWith('!');
  return {
    wanted: globs.filter((glob) => !isUnwanted(glob)),
    unwanted: globs.filter(isUnwanted).map((glob) => glob.slice(1)),
  };
}

function within(wanted: readonly string[]): Text {
  if (wanted.length === 0) {
    return [];
  }
  return wanted.every((glob) => glob.endsWith('/**'))
    ? say` in ${either(wanted)}`
    : say` that matches ${either(wanted)}`;
}

function butNot(unwanted: readonly string[]): Text {
  return unwanted.length === 0 ? [] : say`, but not ${either(unwanted)}`;
}

import { either, say, type Text } from '../text.ts';

/** Which files globs mean, for somebody who may not know globs: "a file in `test/**`", "`CHANGELOG.md`". */
export function aFile(globs: readonly string[]): Text {
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  const unwanted = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  return say`${oneOf(wanted)}${unwanted.length === 0 ? [] : say`, but not ${either(unwanted)}`}`;
}

function oneOf(wanted: readonly string[]): Text {
  if (wanted.length === 0) {
    return say`a file`;
  }
  if (wanted.every((glob) => !/[*?[\]{}\\]/.test(glob))) {
    return either(wanted);
  }
  const isFolder = wanted.every((glob) => glob.endsWith('/**'));
  return say`a file ${[isFolder ? 'in' : 'that matches']} ${either(wanted)}`;
}

import { readdirSync, readFileSync } from 'node:fs';

/** A mistake that a colleague could make in `src`, and the tests that should notice it. */
export interface Fault {
  /** A short name, with the room before the first hyphen. */
  readonly id: string;
  /** What goes wrong, in one line. */
  readonly title: string;
  /** The file under `src`. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** The cheapest files that should notice it, from the root. */
  readonly tests: readonly string[];
  /** False: known to go unnoticed. */
  readonly isCaught: boolean;
}

const FOLDER = new URL('./faults/', import.meta.url);

/** Mistakes that users would feel, over all rooms of `src`. Whoever moves the code takes them along. */
export const FAULTS: readonly Fault[] = readdirSync(FOLDER).flatMap((name) =>
  readFileSync(new URL(name, FOLDER), 'utf8').trim().split('\n\n').map(parseFault),
);

/** `id: title`, the file, what is there after `-`, what is planted after `+`, and the tests, a line each; perhaps `(not caught)`. */
function parseFault(text: string): Fault {
  const [head = '', file = '', ...lines] = text.split('\n');
  const [id = '', title = ''] = head.split(/: (.+)/);
  const marked = (mark: string) =>
    lines
      .filter((line) => line.startsWith(mark))
      .map((line) => line.slice(1))
      .join('\n');
  const tests = lines.filter((line) => /^\w/.test(line));
  return { id, title, file, find: marked('-'), replace: marked('+'), tests, isCaught: !lines.includes('(not caught)') };
}

/** The text with the fault in it. Throws unless its place occurs exactly once: which one is meant must be certain. */
export function plant({ id, file, find, replace }: Fault, text: string): string {
  const [before = '', after, ...more] = text.split(find);
  if (after === undefined || more.length > 0) {
    const times = after === undefined ? 'is not' : `is ${more.length + 1} times`;
    throw new Error(`${id}: its place ${times} in ${file}`);
  }
  return `${before}${replace}${after}`;
}

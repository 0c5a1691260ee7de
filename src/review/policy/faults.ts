import type { LineCounter } from 'yaml';
import { shorten } from '../../common/shorten.ts';
import { MAX_POLICY_FAULTS } from '../limits.ts';
import { visible } from '../text.ts';

/** Characters of a fault's message: it may quote a key or a pattern of any length. */
const MAX_MESSAGE_SHOWN = 300;
/** Characters of what was expected, found and suggested, each, which may be as long. */
const MAX_DETAIL_SHOWN = 1_000;

/** Something wrong with a policy file, in words for the person who wrote it. */
export interface Fault {
  readonly file: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  /** A whole statement, suggestion included: `unknown key "requires"; did you mean "require"?` */
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  /** The nearest key or value that is allowed. */
  readonly suggestion?: string;
}

type FaultDetail = Pick<Fault, 'message' | 'expected' | 'found' | 'suggestion'>;

export interface FaultCollector {
  /** `offset` counts UTF-16 units from the start of the text. */
  add(offset: number, detail: FaultDetail): void;
  /**
   * In the order of the file, one a place and message, at most MAX_POLICY_FAULTS and a last one that counts the rest.
   */
  all(): readonly Fault[];
}

export function faultCollector(file: string, lines: LineCounter): FaultCollector {
  const faults = new Map<string, Fault>();
  return {
    add(offset, detail) {
      const { line, col } = lines.linePos(offset);
      const message = visible(shorten(detail.message, MAX_MESSAGE_SHOWN));
      const fault = { file, line: Math.max(line, 1), column: Math.max(col, 1), ...shortened(detail), message };
      faults.set(`${line}:${col}:${message}`, fault);
    },
    all() {
      const sorted = [...faults.values()].sort(
        (a, b) => a.line - b.line || a.column - b.column || (a.message < b.message ? -1 : 1),
      );
      const shown = sorted.slice(0, MAX_POLICY_FAULTS);
      const last = shown.at(-1);
      if (last === undefined || sorted.length === shown.length) {
        return shown;
      }
      return [...shown, { ...last, message: `and ${sorted.length - shown.length} more faults after this line` }];
    },
  };
}

function shortened({ message, ...others }: FaultDetail): FaultDetail {
  const details = Object.entries(others).map(([name, text]) => [name, shorten(text, MAX_DETAIL_SHOWN)]);
  return { message, ...Object.fromEntries(details) };
}

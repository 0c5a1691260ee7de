import { shorten } from '../src/common/shorten.ts';
import { MAX_POLICY_FAULTS } from '../src/review/limits.ts';
import { visible } from '../src/review/text.ts';

/** Characters of one finding: it may quote a key or a pattern of any length. */
const MAX_FINDING_SHOWN = 400;

/** What somebody has to know of a line of the file that is translated. */
export interface Finding {
  readonly line: number;
  /** `lost`: the line has no equal. `kept`: it has one, which differs in a way that is reported. */
  readonly kind: 'lost' | 'kept';
  readonly text: string;
}

export interface Findings {
  /** The line has no equal. `did`: what it did, as a sentence without a full stop. `todo`: what to do, a sentence. */
  lost(line: number, did: string, todo: string): void;
  kept(line: number, text: string): void;
  /** Something has a form that the other program does not accept either. */
  wrong(line: number, text: string): void;
  /** By line, and each only once. */
  all(): readonly Finding[];
  /** What is wrong, by line. */
  faults(): readonly { readonly line: number; readonly message: string }[];
  /** Those that were added while `work` ran. */
  during<Result>(work: () => Result): { readonly result: Result; readonly findings: readonly Finding[] };
}

export function makeFindings(): Findings {
  const found: Finding[] = [];
  const faults = new Map<string, { readonly line: number; readonly message: string }>();
  const add = (line: number, kind: Finding['kind'], text: string): void => {
    found.push({ line, kind, text: visible(shorten(text, MAX_FINDING_SHOWN)) });
  };
  return {
    lost: (line, did, todo) => add(line, 'lost', `${did}. ${todo}`),
    kept: (line, text) => add(line, 'kept', text),
    wrong(line, text) {
      const message = visible(shorten(text, MAX_FINDING_SHOWN));
      faults.set(`${line} ${message}`, { line, message });
    },
    all: () => inOrder(found),
    faults: () => [...faults.values()].sort((a, b) => a.line - b.line).slice(0, MAX_POLICY_FAULTS),
    during(work) {
      const before = found.length;
      const result = work();
      return { result, findings: inOrder(found.slice(before)) };
    },
  };
}

/** By line, and each only once. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const own = new Map(findings.map((finding) => [`${finding.line} ${finding.kind} ${finding.text}`, finding]));
  return [...own.values()].sort((a, b) => a.line - b.line);
}

/** A key, a name or a pattern of the file, as a finding quotes it. */
export function quoted(text: string): string {
  return `"${shorten(text, 80)}"`;
}

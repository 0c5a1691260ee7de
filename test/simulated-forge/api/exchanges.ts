import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Answer, Call } from '../routes.ts';
import type { Checks } from './checks.ts';

interface Violation {
  readonly path: string;
  readonly fault: string;
}

/** Given by the test runner: each forge adds a line. */
const REPORT = process.env['TEST_EXCHANGES'];

export function makeExchanges() {
  let count = 0;
  let violated = 0;
  const operations = new Set<string>();
  let violations: readonly Violation[] = [];

  function note(path: string, faults: readonly string[]): void {
    violated += faults.length;
    violations = [...violations, ...faults.map((fault) => ({ path, fault }))];
  }

  return {
    /** Holds a request, and its answer unless it is a fault on request, against the description. Returns the whole answer. */
    check(checks: Checks, call: Call, answer: Answer, isFault: boolean): Answer {
      count += 1;
      const operation = checks.operationOf(call.method, call.path);
      // A fault on request may have led the client to an address of the test's own.
      if (operation === undefined && isFault) {
        return answer;
      }
      operations.add(operation ?? '');
      note(call.path, checks.faultsOfRequest(call));
      if (isFault) {
        return answer;
      }
      const { whole, faults } = checks.complete(call, answer);
      note(call.path, faults);
      return whole;
    },

    /** Throws if something was found, and forgets it. Of one repository, or all of it. */
    assertValid(repository?: string) {
      const isOf = ({ path }: Violation) => repository === undefined || path.startsWith(`/repos/${repository}/`);
      const found = new Set(violations.filter(isOf).map(({ fault }) => fault));
      violations = violations.filter((violation) => !isOf(violation));
      if (found.size > 0) {
        throw new Error(`against the forge's published description:\n${[...found].join('\n')}`);
      }
    },

    report(forge: string) {
      if (REPORT !== undefined && count > 0) {
        const line: ReportedExchanges = { forge, count, violated, operations: [...operations] };
        appendFileSync(REPORT, `${JSON.stringify(line)}\n`);
      }
    },
  };
}

interface ReportedExchanges {
  readonly forge: string;
  readonly count: number;
  readonly violated: number;
  readonly operations: readonly string[];
}

export function summarizeExchanges(file: string): string {
  if (!existsSync(file)) {
    return '';
  }
  const reported: ReportedExchanges[] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return [...new Set(reported.map(({ forge }) => forge))]
    .toSorted()
    .map((name) => {
      const of = reported.filter(({ forge }) => forge === name);
      const count = of.reduce((sum, one) => sum + one.count, 0);
      const violated = of.reduce((sum, one) => sum + one.violated, 0);
      const operations = new Set(of.flatMap((one) => one.operations));
      const checked = `${count} exchanges of ${operations.size} operations checked`;
      return `simulated ${name}: ${checked}, ${violated} violations; an unexpected one fails its test\n`;
    })
    .join('');
}

import type { ExecutionContext, TestFn } from 'ava';
import type { Kind } from '../../../translate/translate-text.ts';
import { type Construct, passes, translated } from './judge.ts';

/** A test for each construct of a program: it is judged as its document says, and lost where it has no equal. */
export function testConstructs(test: TestFn, kind: Kind, constructs: readonly Construct[]): void {
  for (const construct of constructs) {
    test(`${kind}: ${construct.name}`, (t) => judgedAsDocumented(t, kind, construct));
  }
}

function judgedAsDocumented(t: ExecutionContext, kind: Kind, construct: Construct): void {
  const { policy, text, lost } = translated(kind, construct.source);
  const said = `${construct.document}\n${text}`;
  t.deepEqual(lost, construct.lost ?? [], said);
  for (const given of construct.passes) {
    t.true(passes(policy, given), `${JSON.stringify(given)} should pass: ${said}`);
  }
  for (const given of construct.stops) {
    t.false(passes(policy, given), `${JSON.stringify(given)} should be stopped: ${said}`);
  }
}

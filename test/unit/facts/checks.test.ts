import { checks as fact } from '../../../src/facts/checks.ts';
import type { Reading } from '../../../src/facts/fact.ts';
import { factsOf } from '../../../src/facts/table.ts';
import type { Check, Checks } from '../../../src/forges/port/checks.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import test from '../../helpers/test.ts';

type Named = readonly [name: string, reporter: string, state?: string];

const status = (...[name, reporter, state = 'success']: Named): Check => ({ kind: 'status', name, reporter, state });
const run = (...of: Named): Check => ({ ...status(...of), kind: 'check-run' });

const BUILD = status('build', 'ci');

/** What others reported of a pull request into main, of these checks, newest first. */
async function othersAmong(name: ForgeName, checks: readonly Check[]): Promise<Checks> {
  const facts = factsOf({ base: 'main' });
  const forge: Partial<Forge> = {
    name,
    self: async () => 'Gatehouse',
    checks: async () => ({ checks, suites: [], complete: true }),
  };
  const reading: Partial<Reading<Checks>> = {
    forge: forge as Forge,
    pullRequest: facts.pullRequest,
    statusContext: 'gatehouse/{base}',
  };
  return fact.read(reading as Reading<Checks>, []);
}

type Case = readonly [what: string, given: readonly Check[], others: readonly Check[], name?: ForgeName];

const VERDICT_OF_MALLORY = status('Gatehouse/Main', 'mallory');
const NEXT_FAILED = status('gatehouse/next', 'mallory', 'failure');
const OWN_NEXT = status('gatehouse/next', 'gatehouse');
const BUILD_RUN = run('build', 'actions[bot]');
const NEXT_RUN = run('gatehouse/next', 'actions[bot]');
const OWN_BUILD = status('gatehouse/build', 'ci');

const CASES: readonly Case[] = [
  ['what others report', [BUILD, BUILD_RUN], [BUILD, BUILD_RUN]],
  ['the status of the verdict itself', [status('gatehouse/main', 'gatehouse'), BUILD], [BUILD]],
  ['what others set under its name', [status('gatehouse/main', 'mallory'), BUILD], [BUILD]],
  ['the same in another case, which is one name on GitHub', [VERDICT_OF_MALLORY], [], 'github'],
  ['the same in another case, which is another name on Gitea', [VERDICT_OF_MALLORY], [VERDICT_OF_MALLORY]],
  ['whatever Gatehouse itself reports', [status('other', 'gatehouse'), OWN_NEXT], []],
  ['what others set under the name for another base', [NEXT_FAILED, OWN_BUILD], [NEXT_FAILED, OWN_BUILD]],
  [
    'what an earlier account said, which Gatehouse has replaced',
    [OWN_NEXT, status('gatehouse/next', 'earlier', 'pending'), BUILD],
    [BUILD],
  ],
  ['what others say after Gatehouse under a name that it gives', [NEXT_FAILED, OWN_NEXT], [NEXT_FAILED]],
  ['a run of the name of a status of Gatehouse', [OWN_NEXT, NEXT_RUN], [NEXT_RUN]],
];

for (const [what, given, others, name = 'gitea'] of CASES) {
  test(`checks by others: ${what}`, async (t) => {
    t.deepEqual((await othersAmong(name, given)).checks, others);
  });
}

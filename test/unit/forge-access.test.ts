import { pino } from 'pino';
import type { Access } from '../../src/forges/port/access.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import { watchForgeAccess } from '../../src/jobs/forge-access.ts';
import { makeMetrics } from '../../src/metrics.ts';
import test from '../helpers/test.ts';

const LIMITED = new ForgeError('rate-limited', 'GET /user: the forge must wait');

/** A forge that gives these answers in turn. */
function watch(t: { teardown(end: () => void): void }, answers: readonly (Access | ForgeError)[]) {
  const lines: { msg: string; level: number; scopes?: readonly string[] }[] = [];
  const metrics = makeMetrics();
  const left = [...answers];
  let regained = 0;
  const access = watchForgeAccess({
    forge: {
      async checkAccess() {
        const answer = left.shift() ?? LIMITED;
        if (answer instanceof ForgeError) {
          throw answer;
        }
        return answer;
      },
    },
    metrics,
    log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
    onRegained: () => {
      regained += 1;
    },
  });
  t.teardown(access.stop);
  return { access, lines, metrics, regained: () => regained };
}

const GRANTED = { kind: 'granted' } as const;
const missing = (...scopes: string[]) => ({ kind: 'missing-scope', scopes }) as const;
const notAccepted = (reason: string) => ({ kind: 'not-accepted', reason }) as const;

test('a result of the credentials check is logged when it changes, not each time', async (t) => {
  const answers = [
    ...[GRANTED, GRANTED, missing('read:user', 'write:issue'), missing('read:user', 'write:issue')],
    ...[missing('write:issue'), notAccepted('one answer'), notAccepted('another'), GRANTED],
  ];
  const { access, lines, regained } = watch(t, answers);
  for (const [index, answer] of answers.entries()) {
    t.is((await access.check())?.kind, answer.kind);
    t.is(regained(), index === answers.length - 1 ? 1 : 0);
  }
  t.deepEqual(
    lines.map(({ level, scopes }) => [level, ...(scopes ?? [])]),
    [[30], [50, 'read:user', 'write:issue'], [50, 'write:issue'], [50], [30]],
  );
});

test('the metric shows the present problem, also after a check without a result', async (t) => {
  const { access, metrics } = watch(t, [notAccepted('no'), LIMITED, GRANTED]);
  const shown = async () => (await metrics.forgeAccessProblem.get()).values.filter(({ value }) => value === 1);
  for (const expected of [['not-accepted'], ['not-accepted'], []]) {
    await access.check();
    t.deepEqual(
      (await shown()).map(({ labels }) => labels.problem),
      expected,
    );
  }
});

test('checks of the credentials at the same time make one request', async (t) => {
  const { access } = watch(t, [GRANTED, notAccepted('a second request')]);
  const results = await Promise.all([access.check(), access.check()]);
  t.deepEqual(results, [GRANTED, GRANTED]);
});

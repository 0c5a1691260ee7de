import type { ExecutionContext } from 'ava';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import { onBothForges } from './forges.ts';
import { shareGatehouse } from './gatehouse.ts';
import type { TestForge } from './test-forge.ts';

/** What a change of an agent, and of whoever asked for it, needs on a Gitea, simulated or real. */
const both = onBothForges(test);
const gatehouseOf = shareGatehouse(test);

const POLICY = `version: 1
override: { by: [bob] }
rules:
  - id: approved
    require: { approvals: { from: [bob, mallory] } }
`;

/** A pull request of one commit with this message, that bob approves. */
async function approvedByBob(t: ExecutionContext, forge: TestForge, message: string, policy = POLICY) {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': policy });
  const sha = await site.pushSaying('topic', message, { 'app.ts': 'one\n' });
  const number = await site.open('topic');
  await site.expect(t, sha, 'waiting');
  await site.review(number, 'bob', 'approved');
  const says = (text: RegExp) =>
    eventually(`the comment says ${text}`, async () => text.test((await site.comments(number)).join()));
  return { site, sha, number, says };
}

const MESSAGES = {
  'their address': 'feat: it\n\nCo-authored-by: Bob <bob@example.test>',
  'a folded line in another case': 'feat: it\n\nCO-AUTHORED-BY: Bob\n  <BOB@example.test>',
  'an address that hides theirs': 'feat: it\n\nCo-authored-by: Bob <bob@noreply.localhost>',
} as const;

for (const [how, message] of Object.entries(MESSAGES)) {
  both(`a co-author’s approval does not count: ${how}`, async (t, forge) => {
    const { site, sha, number, says } = await approvedByBob(t, forge, message);
    await says(/`bob`, named as a co-author of this pull request/);
    await site.comment(number, 'bob', `/gatehouse override approved ${sha} hotfix 4711`);
    await says(/by `bob` was written by somebody whom a commit of this pull request names as its co-author/);
    t.false((await site.states(sha)).includes('success'));
    await site.review(number, 'mallory', 'approved');
    await site.expect(t, sha, 'success');
  });
}

both('a trailer in the middle of a message names no co-author', async (t, forge) => {
  const message = 'feat: it\n\nCo-authored-by: Bob <bob@example.test>\n\nThat was the line.';
  const { site, sha } = await approvedByBob(t, forge, message);
  await site.expect(t, sha, 'success');
});

both('an approval by an account that the policy calls a machine does not count', async (t, forge) => {
  const policy = POLICY.replace('override:', 'machine_accounts: ["B*"]\noverride:').replace(
    '[bob, mallory]',
    '[mallory]',
  );
  const { site, sha, number, says } = await approvedByBob(t, forge, 'feat: it', policy);
  await says(/`bob`, a bot that the policy does not name/);
  await site.comment(number, 'bob', `/gatehouse override approved ${sha} hotfix 4711`);
  await says(/by `bob` was written by a bot/);
  t.false((await site.states(sha)).includes('success'));
  await site.review(number, 'mallory', 'approved');
  await site.expect(t, sha, 'success');
});

both('the change of a machine needs two people', async (t, forge) => {
  const policy = `version: 1
machine_accounts: [coder@agents.test]
rules:
  - id: two
    when: { contributors: { bots: true } }
    require: { approvals: { count: 2, from: [bob, mallory] } }
`;
  const message = 'feat: it\n\nCo-authored-by: Coder <coder@agents.test>';
  const { site, sha, number } = await approvedByBob(t, forge, message, policy);
  await site.expect(t, sha, 'waiting');
  t.false((await site.states(sha)).includes('success'));
  await site.review(number, 'mallory', 'approved');
  await site.expect(t, sha, 'success');
});

both('strict approvals stay undecided with a co-author of no account', async (t, forge) => {
  const strict = POLICY.replace('mallory] }', 'mallory], unknown_authors: undecided }');
  const message = 'feat: it\n\nCo-authored-by: Bob <bob@elsewhere.test>';
  const { site, sha } = await approvedByBob(t, forge, message, strict);
  await site.expect(t, sha, 'error');
  t.false((await site.states(sha)).includes('success'));
});

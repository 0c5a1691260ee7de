import test from '../../helpers/test.ts';
import { VERSIONS } from '../../simulated-forge/github-api/versions.ts';
import { type SimulatedForge, startSimulatedForge } from '../../simulated-forge/simulated-forge.ts';
import type { WebhookEvent } from '../../simulated-forge/webhooks.ts';

const REPOSITORY = 'acme/widgets';
const ACTIONS = [
  'opened',
  'reopened',
  'closed',
  'edited',
  'synchronize',
  'labeled',
  'unlabeled',
  'ready_for_review',
  'converted_to_draft',
  'review_requested',
  'review_request_removed',
] as const;

/** Enterprise Server has merge queues, too; its descriptions lack their webhooks. */
const HAS_MERGE_GROUP: readonly string[] = ['api.github.com', 'ghec'];

function everything(forge: SimulatedForge): readonly WebhookEvent[] {
  forge.app.install('acme');
  forge.createRepository(REPOSITORY, { 'README.md': 'Hello\n' });
  forge.commit(REPOSITORY, 'topic', { 'README.md': 'Bye\n' });
  const number = forge.openPullRequest(REPOSITORY, { head: 'topic' });
  forge.label(REPOSITORY, number, 'bug');
  const review = forge.review(REPOSITORY, number, 'bob', 'approved');
  const comment = forge.comment(REPOSITORY, number, 'bob', '/gatehouse recheck');
  const { headSha } = forge.pull(REPOSITORY, number);
  const status = { context: 'ci', state: 'success', description: '', author: 'ci' };
  const set = forge.setStatus(REPOSITORY, headSha, status);
  const suite = forge.openSuite(REPOSITORY, headSha, 'ci');
  const run = forge.runCheck(REPOSITORY, headSha, { name: 'test', app: 'ci', conclusion: 'success' });
  return [
    { kind: 'ping' },
    { kind: 'push', branch: 'main' },
    ...ACTIONS.map((action) => ({ kind: 'pull-request', number, action }) as const),
    { kind: 'review', number, review },
    { kind: 'review', number, review: { ...review, dismissed: true } },
    { kind: 'comment', number, comment, action: 'created' },
    { kind: 'comment', number, comment, action: 'edited', before: 'x' },
    { kind: 'comment', number, comment, action: 'deleted' },
    { kind: 'merge-group', number, headSha, action: 'checks_requested' },
    { kind: 'merge-group', number, headSha, action: 'destroyed' },
    { kind: 'status', status: set },
    { kind: 'check-run', run: { ...run, status: 'queued', conclusion: null } },
    { kind: 'check-run', run },
    { kind: 'check-suite', suite },
  ];
}

for (const version of VERSIONS) {
  test(`${version}: simulated payloads are valid by GitHub's descriptions`, async (t) => {
    const forge = await startSimulatedForge({ forge: 'github', checked: true, version });
    t.teardown(() => forge.stop());
    const events = everything(forge);
    t.is(events.length, 24);
    for (const event of events) {
      const send = () => forge.webhook(REPOSITORY, event, { secret: 'x' });
      if (event.kind === 'merge-group' && !HAS_MERGE_GROUP.includes(version)) {
        t.throws(send, { message: /describes no webhook merge-group/ });
      } else {
        t.notThrows(send);
      }
    }
  });
}

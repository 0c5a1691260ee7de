import { missingHookEvents } from '../../../src/forges/gitea/hook-events.ts';
import test from '../../helpers/test.ts';

test('missing events of a webhook are found by the names that the API lists', (t) => {
  const names = (listed: readonly string[]) => missingHookEvents('gitea', listed).map(({ name }) => name);
  const requests = ['pull_request_review_request', 'pull_request_assign', 'pull_request_milestone'];
  const others = ['push', 'pull_request', 'pull_request_label', 'pull_request_sync', ...requests];
  const all = [...others, 'status', 'pull_request_comment'];
  t.deepEqual(names([...all, 'pull_request_review']), [], 'Gitea 1.26');
  t.deepEqual(names([...all, 'pull_request_review_approved', 'pull_request_review_rejected']), [], 'versions before');
  t.deepEqual(names(['push', 'pull_request']).length, 8);
  t.deepEqual(names(['pull_request_only']).includes('pull_request_only'), true, 'it is never listed by that name');
});

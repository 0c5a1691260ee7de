import type { z } from 'zod';
import type { GiteaClient } from '../../../src/forges/gitea/client.ts';
import { pullRequest } from '../../../src/forges/gitea/read.ts';
import test from '../../helpers/test.ts';

/** Answers every question with one pull request. */
function clientAnswering(pull: object): GiteaClient {
  const unused = () => Promise.reject(new Error('not asked for here'));
  const ask = <T>(_path: string, shape: z.ZodType<T>) => Promise.resolve(shape.parse(pull));
  return { ask, askPage: unused, askAll: unused, askList: unused, text: unused, write: unused };
}

const PULL = {
  number: 1,
  html_url: 'https://git.example.test/platform/site/pulls/1',
  state: 'open',
  body: null,
  user: null,
  labels: null,
  base: { ref: 'main', sha: 'a', repo: { full_name: 'platform/site' } },
  head: { label: '', ref: 'refs/pull/1/head', sha: 'b', repo: null },
  updated_at: '2026-01-01T00:00:00Z',
};

test('where Gitea does not say whether it is a draft, the title does', async (t) => {
  const ref = { repository: 'platform/site', number: 1 };
  for (const [title, draft] of [
    ['WIP: count', 'yes'],
    ['[wip] count', 'yes'],
    ['feat: count', 'no'],
    ['Fix WIP: labels', 'no'],
  ] as const) {
    t.is((await pullRequest(clientAnswering({ ...PULL, title }), ref))?.draft, draft, title);
  }
  t.is((await pullRequest(clientAnswering({ ...PULL, title: 'WIP: count', draft: false }), ref))?.draft, 'no');
});

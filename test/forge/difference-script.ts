import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from '../helpers/site.ts';
import { MAIN } from '../helpers/site.ts';
import { call } from './reading.ts';
import type { TestForge } from './test-forge.ts';

/** A site on which the script is played, and what it has made there last. */
export interface Played {
  readonly forge: TestForge;
  readonly site: Site;
  number: number;
  sha: string;
  review: number;
  comment: number;
  lineReview: number;
}

export async function startScript(forge: TestForge): Promise<Played> {
  const site = await forge.site({ 'app.ts': 'one\ntwo\nthree\n', 'old name.ts': 'old\n', 'src/in.ts': 'in\n' });
  return { forge, site, number: 0, sha: '', review: 0, comment: 0, lineReview: 0 };
}

/** Gitea tells times in seconds: what is done within one cannot be told apart. */
const nextSecond = () => sleep(1_100);

/** What people do, in this order. */
export const SCRIPT: Readonly<Record<string, (on: Played) => Promise<unknown>>> = {
  open: async (on) => {
    on.sha = await on.site.push('topic', { 'app.ts': 'one\n2\nthree\n' });
    on.number = await on.site.open('topic');
  },
  push: async (on) => {
    on.sha = await on.site.push('topic', { 'more.ts': 'more\n', 'old name.ts': null }, { 'new name.ts': 'old\n' });
  },
  'force-push': async (on) => {
    on.sha = await on.site.forcePush('topic', { 'app.ts': 'one\n2\nthree\nfour\n', 'bin.dat': 'a\0b' });
  },
  retarget: async ({ site, number }) => {
    await site.push('release', { 'other.ts': 'released\n' });
    await site.retarget(number, 'release');
  },
  'retarget back': ({ site, number }) => site.retarget(number, MAIN),
  label: ({ site, number }) => site.label(number, 'one', 'two'),
  'request a review': ({ site, number }) => site.requestReview(number, 'bob'),
  review: async (on) => {
    on.review = await on.site.review(on.number, 'bob', 'approved');
  },
  'review of an outsider': ({ site, number }) => site.review(number, 'mallory', 'changes-requested'),
  dismiss: ({ site, number, review }) => site.dismiss(number, review),
  comment: async (on) => {
    on.comment = await on.site.comment(on.number, 'bob', 'Hm.');
  },
  'edit the comment': async ({ site, number, comment }) => {
    await nextSecond();
    await site.editComment(number, 'bob', comment, 'Hm!');
  },
  status: ({ site, sha }) => site.setStatus('bob', sha, { context: 'ci', state: 'success' }),
  edit: ({ site, number }) => site.edit(number, { title: 'WIP: later', body: 'A description' }),
  'edit again': ({ site, number }) => site.edit(number, { title: 'feat: now' }),
  rename: ({ site }) => site.rename(`${site.repository.split('/')[1]}-renamed`),
  'comment at a line': async (on) => {
    const response = await call(on.forge, 'POST', `/repos/${on.site.repository}/pulls/${on.number}/reviews`, {
      event: 'COMMENT',
      commit_id: on.sha,
      comments: [{ path: 'app.ts', new_position: 2, body: 'Here' }],
    });
    on.lineReview = ((await response.json()) as { readonly id: number }).id;
  },
  'remove a label': ({ site, number }) => site.unlabel(number, 'one'),
  'remove all labels': ({ site, number }) => site.clearLabels(number),
  'comment again': async (on) => {
    on.comment = await on.site.comment(on.number, 'bob', 'Once more.');
  },
  'delete the comment': ({ site, number, comment }) => site.deleteComment(number, 'bob', comment),
  close: ({ site, number }) => site.close(number),
  reopen: ({ site, number }) => site.reopen(number),
  'another status': async ({ site, sha }) => {
    await nextSecond();
    await site.setStatus('gatehouse', sha, { context: 'ci', state: 'failure' });
  },
  protect: ({ site }) => site.protect('release', 'gatehouse*'),
  'advance the base': ({ site }) => site.push(MAIN, { 'base.ts': 'base\n' }),
  update: async (on) => {
    on.sha = await on.site.updateBranch(on.number);
  },
  'force-push again': async (on) => {
    on.sha = await on.site.forcePush('topic', { 'app.ts': 'one\n2\nthree\nfour\n5\n' });
  },
  'push two commits': async (on) => {
    on.sha = await on.site.push('topic', { 'src/two.ts': '2\n' }, { 'src/three.ts': '3\n' });
  },
  merge: ({ site, number }) => site.mergeByButton(number),
};

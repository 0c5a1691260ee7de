import test from '../../helpers/test.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES } from './setup.ts';

/** What counts of reviews, given and requested, as each forge shows them and their history. */
const rule = (body: string) => ({ '.gatehouse.yml': `version: 1\nrules: [{ id: it, ${body} }]\n` });
const FRESH = rule('require: { approvals: { fresh: true } }');
const NO_OBJECTION = rule('forbid: { changes_requested: true }');
const ANSWERED = rule('forbid: { reviews_requested: true }');
const ONE_FILE = { 'a.txt': 'a\n' };

for (const name of FORGES) {
  test(`${name}: a fresh approval survives no change of base, and no force-push that keeps the patch`, async (t) => {
    const site = await judgedSite(t, name, FRESH);
    const { forge, repository } = site;
    forge.commit(repository, 'release', { 'r.txt': 'r\n' });
    for (const [what, change] of [
      ['retarget', (number: number) => forge.retarget(repository, number, 'release')],
      ['force-push', (number: number) => forge.forcePush(repository, number, ONE_FILE, { message: 'feat: the same' })],
    ] as const) {
      const number = await site.open(ONE_FILE);
      await site.review(number, 'bob', 'approved');
      t.is((await site.judge(number)).state, 'success');
      change(number);
      const isSame = forge.pull(repository, number).reviews[0]?.sha === site.head(number);
      t.is(isSame, what === 'retarget' || name === 'github');
      const { state, said } = await site.judge(number);
      t.is(state, 'pending');
      t.regex(
        said,
        isSame ? /`bob`, given before the last force-push or change/ : /`bob`, given for an earlier commit/,
      );
    }
  });

  test(`${name}: a request for changes counts until its author approves`, async (t) => {
    const site = await judgedSite(t, name, NO_OBJECTION);
    const number = await site.open(ONE_FILE);
    await site.review(number, 'bob', 'changes-requested');
    for (const act of [
      async () => {},
      () => site.requestReview(number, 'bob'),
      () => site.review(number, 'bob', 'commented'),
      () => site.push(number, { 'a.txt': 'b\n' }),
    ]) {
      await act();
      const { state, said } = await site.judge(number);
      t.is(state, 'pending');
      t.regex(said, /1 request for changes, by `bob`/);
    }
    await site.review(number, 'bob', 'approved');
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: a requested review is waited for, of a person and of a team`, async (t) => {
    const site = await judgedSite(t, name, ANSWERED);
    site.forge.createTeam('acme/answering', ['carol']);
    const number = await site.open(ONE_FILE);
    t.is((await site.judge(number)).state, 'success');
    await site.requestReview(number, 'bob');
    site.forge.requestReview(site.repository, number, 'acme/answering');
    const { state, description } = await site.judge(number);
    t.is(state, 'pending');
    t.regex(description, /bob.*@acme\/answering/);
    await site.review(number, 'bob', 'approved');
    t.is((await site.judge(number)).state, 'pending');
    await site.review(number, 'carol', 'approved');
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: who made the change cannot withdraw a request that is not theirs`, async (t) => {
    const site = await judgedSite(t, name, ANSWERED);
    const { forge, repository } = site;
    const number = await site.open(ONE_FILE);
    forge.requestReview(repository, number, 'bob', 'carol');
    t.is((await site.judge(number)).state, 'pending');
    forge.withdrawReviewRequest(repository, number, 'bob', 'alice');
    const { state, said } = await site.judge(number);
    t.is(state, 'pending');
    t.regex(said, /Reviews requested of `bob`; what `alice` withdrew still counts/);

    forge.requestReview(repository, number, 'bob', 'alice');
    forge.withdrawReviewRequest(repository, number, 'bob', 'alice');
    t.is((await site.judge(number)).state, 'pending', 'nor by requesting it once more');

    forge.requestReview(repository, number, 'bob', 'alice');
    forge.withdrawReviewRequest(repository, number, 'bob', 'carol');
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: a request that the author withdrew ends with the review`, async (t) => {
    const site = await judgedSite(t, name, { ...ANSWERED, CODEOWNERS: 'a.txt @bob\n' });
    const { forge, repository } = site;
    const number = await site.open(ONE_FILE);
    // As CODEOWNERS does, in the author's name.
    forge.requestReview(repository, number, 'bob', 'alice');
    forge.withdrawReviewRequest(repository, number, 'bob', 'alice');
    t.is((await site.judge(number)).state, 'pending');
    await site.review(number, 'bob', 'approved');
    t.is((await site.judge(number)).state, 'success');
  });
}

const AT = { path: 'a.txt', line: 1, body: 'Hm.' };

type Act = (site: JudgedSite, number: number) => void;

/** Nobody else sees them in the list of reviews. */
const pending =
  (count: number): Act =>
  ({ forge, repository }, number) => {
    for (let index = 0; index < count; index++) {
      forge.commentInline(repository, number, 'alice', { ...AT, state: 'pending' });
    }
  };
const inOneReview: Act = ({ forge, repository }, number) => {
  const replyTo = forge.commentInline(repository, number, 'alice', AT);
  for (let index = 1; index < 320; index++) {
    forge.commentInline(repository, number, 'alice', { ...AT, replyTo });
  }
};
const request: Act = ({ forge, repository }, number) => forge.requestReview(repository, number, 'bob', 'carol');
const withdraw: Act = ({ forge, repository }, number) =>
  forge.withdrawReviewRequest(repository, number, 'bob', 'alice');

/** What hides a request and its withdrawal in a timeline, in this order, and what is made of them. */
const HIDDEN: readonly (readonly [what: string, acts: readonly Act[], state: string])[] = [
  ['99 pending comments at lines', [request, pending(99), withdraw], 'pending'],
  ['320 pending comments at lines', [request, pending(320), withdraw], 'error'],
  ['a review of 320 comments', [inOneReview, request, withdraw], 'pending'],
];

for (const [what, acts, state] of HIDDEN) {
  test(`gitea: a withdrawal behind ${what} is not missed`, async (t) => {
    const site = await judgedSite(t, 'gitea', ANSWERED);
    const number = await site.open(ONE_FILE);
    for (const act of acts) {
      act(site, number);
    }
    t.is((await site.judge(number)).state, state);
  });
}

test('github: the author cannot withdraw the request of a team, GitHub itself can', async (t) => {
  const site = await judgedSite(t, 'github', { ...ANSWERED, CODEOWNERS: '* @acme/security\n' });
  const { forge, repository } = site;
  forge.createTeam('acme/security', ['carol']);
  const withdrawn = await site.open(ONE_FILE);
  forge.requestReview(repository, withdrawn, 'acme/security');
  forge.withdrawReviewRequest(repository, withdrawn, 'acme/security');
  t.regex((await site.judge(withdrawn)).description, /@acme\/security/);

  // Where GitHub assigns the review of a team to a member, all of it happens in one second.
  async function replaced(by: string): Promise<number> {
    const number = await site.open({ [`${by}.txt`]: 'a\n' });
    forge.requestReview(repository, number, 'acme/security', by);
    forge.withdrawReviewRequest(repository, number, 'acme/security');
    forge.requestReview(repository, number, 'carol');
    for (const event of forge.pull(repository, number).events) {
      Object.assign(event, { at: '2026-01-01T00:00:00Z' });
    }
    return number;
  }
  t.regex((await site.judge(await replaced('dan'))).description, /@acme\/security/, 'the author did it');
  const assigned = await replaced('alice');
  const { description } = await site.judge(assigned);
  t.regex(description, /carol/);
  t.notRegex(description, /@acme\/security/);
  await site.review(assigned, 'carol', 'approved');
  t.is((await site.judge(assigned)).state, 'success');
});

import test from '../../helpers/test.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES } from './setup.ts';

/** Conversations at lines, as each forge shows them: none that should be resolved is passed over. */
const rule = (threads: string, more = '') => ({
  '.gatehouse.yml': `version: 1\n${more}rules: [{ id: answered, require: { threads: ${threads} } }]\n`,
});
const ANY = rule('{}');
const OTHERS = rule('{ resolved_by: others }', 'machine_accounts: [ci]\n');
const FILES = { 'a.txt': 'one\ntwo\n' };
const AT = { path: 'a.txt', line: 1, body: 'Why?' };
/** More than GitHub gives in one page. */
const MANY = 120;
/** More than are read of a Gitea: each is a review with a request of its own. */
const TOO_MANY_REVIEWS = 51;

const stateOf = async (site: JudgedSite, number: number) => (await site.judge(number)).state;

for (const name of FORGES) {
  const tells = name === 'github';

  test(`${name}: a conversation counts until it is resolved, also that of a dismissed review`, async (t) => {
    const site = await judgedSite(t, name, ANY);
    const number = await site.open(FILES);
    t.is(await stateOf(site, number), 'success');
    const comment = await site.commentInline(number, 'bob', { ...AT, state: 'changes-requested' });
    const { state, said } = await site.judge(number);
    t.is(state, 'failure');
    t.regex(said, /1 unresolved conversation, `bob: a\.txt:1`/);
    const { reviews } = site.forge.pull(site.repository, number);
    await site.dismiss(number, reviews.at(-1)?.id ?? 0);
    t.is(await stateOf(site, number), 'failure');
    await site.resolve(number, 'bob', comment);
    t.is(await stateOf(site, number), 'success');
    await site.resolve(number, 'bob', comment, false);
    t.is(await stateOf(site, number), 'failure');
  });

  test(`${name}: who made the change cannot resolve what others began`, async (t) => {
    const site = await judgedSite(t, name, OTHERS);
    const domain = tells ? 'users.noreply.127.0.0.1' : 'noreply.localhost';
    site.forge.commit(site.repository, 'topic', FILES, {
      message: `feat: it\n\nCo-authored-by: Carol <carol@${domain}>`,
    });
    const number = await site.open('topic');
    const comment = await site.commentInline(number, 'bob', AT);
    for (const [by, state] of [
      ['alice', 'pending'],
      ['carol', 'pending'],
      ['bob', 'success'],
      ['mallory', 'success'],
    ] as const) {
      await site.resolve(number, by, comment);
      t.is(await stateOf(site, number), state, by);
    }
    site.forge.addOutsider('mallory');
    t.is(await stateOf(site, number), 'pending', 'mallory may not write any more');
    await site.resolve(number, 'bob', comment);
    t.is(await stateOf(site, number), 'success', 'whoever began it');
  });

  test(`${name}: who made the change cannot resolve what they began over an objection`, async (t) => {
    const site = await judgedSite(t, name, OTHERS);
    const number = await site.open(FILES);
    const first = site.forge.commentInline(site.repository, number, 'alice', AT);
    await site.resolve(number, 'alice', first.id);
    for (const [by, state] of [
      ['alice', 'success'],
      ['ci', 'success'],
      ['bob', 'pending'],
    ] as const) {
      await site.commentInline(number, by, { ...AT, body: 'No.', replyTo: first });
      t.is(await stateOf(site, number), state, by);
    }
    await site.resolve(number, 'bob', first.id);
    t.is(await stateOf(site, number), 'success');
  });

  test(`${name}: an answer does not change who began a conversation`, async (t) => {
    const site = await judgedSite(t, name, rule('{ from: [bob] }'));
    const number = await site.open(FILES);
    const first = site.forge.commentInline(site.repository, number, 'bob', AT);
    await site.commentInline(number, 'alice', { ...AT, body: 'Because.', replyTo: first });
    const { state, said } = await site.judge(number);
    t.is(state, 'failure');
    t.regex(said, /1 unresolved conversation, `bob: a\.txt:1`/);
    await site.resolve(number, 'alice', first.id);
    t.is(await stateOf(site, number), 'success');
  });

  test(`${name}: what is outdated counts unless the policy ignores it, where the forge tells it`, async (t) => {
    for (const [files, then] of [
      [ANY, 'failure'],
      [rule('{ outdated: ignore }'), tells ? 'success' : 'error'],
    ] as const) {
      const site = await judgedSite(t, name, files);
      const number = await site.open(FILES);
      await site.commentInline(number, 'bob', AT);
      t.is(await stateOf(site, number), 'failure', 'before the push');
      await site.push(number, { 'a.txt': 'other\ntwo\n' });
      t.is(await stateOf(site, number), then);
    }
  });

  test(`${name}: the last of many conversations counts`, async (t) => {
    const site = await judgedSite(t, name, ANY);
    const number = await site.open(FILES);
    const { forge, repository } = site;
    const count = tells ? MANY : TOO_MANY_REVIEWS;
    const ids = Array.from({ length: count }, () => forge.commentInline(repository, number, 'bob', AT).id);
    for (const id of ids.slice(0, -1)) {
      forge.resolve(repository, number, id, 'bob');
    }
    const { state, said } = await site.judge(number);
    t.is(state, tells ? 'failure' : 'error');
    t.regex(said, tells ? /1 unresolved conversation/ : /not all conversations could be read/);
    await site.resolve(number, 'bob', ids.at(-1) ?? 0);
    t.is(await stateOf(site, number), tells ? 'success' : 'error', 'what is not read whole is never green');
  });

  test(`${name}: only conversations that bots began count where the policy says so`, async (t) => {
    const site = await judgedSite(t, name, rule('{ from: bots }', 'machine_accounts: [review-bot]\n'));
    const number = await site.open(FILES);
    await site.commentInline(number, 'bob', AT);
    t.is(await stateOf(site, number), 'success');
    await site.commentInline(number, tells ? 'reviewer[bot]' : 'review-bot', { ...AT, line: 2 });
    t.is(await stateOf(site, number), 'failure');
  });
}

test('github: where not all answers are read, it is not known whether somebody objects', async (t) => {
  const site = await judgedSite(t, 'github', OTHERS);
  const number = await site.open(FILES);
  const first = site.forge.commentInline(site.repository, number, 'alice', AT);
  for (let index = 0; index < 100; index += 1) {
    site.forge.commentInline(site.repository, number, 'alice', { ...AT, replyTo: first });
  }
  await site.resolve(number, 'alice', first.id);
  t.is(await stateOf(site, number), 'error');
});

test('github: a conversation that nobody is known to have resolved is undecided', async (t) => {
  const site = await judgedSite(t, 'github', OTHERS);
  const number = await site.open(FILES);
  await site.resolve(number, 'helper[bot]', await site.commentInline(number, 'bob', AT));
  t.is(await stateOf(site, number), 'error');
});

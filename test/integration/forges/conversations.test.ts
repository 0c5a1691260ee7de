import type { ExecutionContext } from 'ava';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import test from '../../helpers/test.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES, SITE, setUpPull } from './setup.ts';

/** Conversations at lines, as each forge shows them: none that should be resolved is passed over. */
const AT = { path: 'src/app.ts', line: 2, body: 'Why?' };
/** More than GitHub gives in one page. */
const MANY = 120;
/** More than are read of a Gitea: each is a review with a request of its own. */
const TOO_MANY_REVIEWS = 51;

async function setUpConversations(t: ExecutionContext, name: ForgeName) {
  const { simulated, forge, ref, sha } = await setUpPull(t, name);
  return {
    simulated,
    begin: (login: string, more: object = {}) => simulated.commentInline(SITE, ref.number, login, { ...AT, ...more }),
    resolve: (id: number, by?: string) => simulated.resolve(SITE, ref.number, id, by),
    read: () => forge.conversations(ref, sha),
    ref,
  };
}

for (const name of FORGES) {
  const tells = name === 'github';

  test(`${name}: a conversation is of who began it, with all who answered`, async (t) => {
    const { simulated, ref, begin, resolve, read } = await setUpConversations(t, name);
    const replyTo = begin('bob', { state: 'changes-requested' });
    begin('alice', { body: 'Because.', replyTo });
    begin('ci', { body: 'No.', replyTo });
    simulated.dismiss(SITE, ref.number, simulated.pull(SITE, ref.number).reviews[0]?.id ?? 0);
    const bot = tells ? 'reviewer[bot]' : 'review-bot';
    begin(bot, { line: 4 });
    const { conversations, complete } = await read();
    t.true(complete);
    const told = (author: string) => conversations.find((one) => one.author === author);
    const open = { path: AT.path, outdated: 'no', resolved: 'no', resolvedBy: null } as const;
    t.deepEqual(told('bob'), { ...open, author: 'bob', bot: false, line: 2, answeredBy: ['alice', 'ci'] });
    t.deepEqual(told(bot), { ...open, author: bot, bot: tells, line: 4, answeredBy: [] });
    t.is(conversations.length, 2);
    for (const by of ['alice', 'mallory']) {
      resolve(replyTo.id, by);
      const found = (await read()).conversations.find(({ author }) => author === 'bob');
      t.like(found, { resolved: 'yes', resolvedBy: by, answeredBy: ['alice', 'ci'] });
    }
  });

  test(`${name}: the last of many conversations is read, or not all are`, async (t) => {
    const { begin, resolve, read } = await setUpConversations(t, name);
    const ids = Array.from({ length: tells ? MANY : TOO_MANY_REVIEWS }, () => begin('bob').id);
    for (const id of ids.slice(0, -1)) {
      resolve(id, 'bob');
    }
    const { conversations, complete } = await read();
    t.is(complete, tells, 'what is not read whole is never green');
    t.is(conversations.filter(({ resolved }) => resolved === 'no').length, tells ? 1 : 0);
  });
}

test('github: where not all answers are read, it is not known who wrote them', async (t) => {
  const { begin, read } = await setUpConversations(t, 'github');
  const replyTo = begin('alice');
  for (let index = 0; index < 100; index += 1) {
    begin('alice', { replyTo });
  }
  t.is((await read()).conversations[0]?.answeredBy, null);
});

/** What a rule says of them, where it depends on what a forge tells. */
const rule = (threads: string) => ({
  '.gatehouse.yml': `version: 1\nrules: [{ id: answered, require: { threads: ${threads} } }]\n`,
});
const FILES = { 'a.txt': 'one\ntwo\n' };
const IN_FILE = { path: 'a.txt', line: 1, body: 'Why?' };
const stateOf = async (site: JudgedSite, number: number) => (await site.judge(number)).state;

for (const name of FORGES) {
  test(`${name}: who made the change cannot resolve what others began`, async (t) => {
    const site = await judgedSite(t, name, rule('{ resolved_by: others }'));
    const domain = name === 'github' ? 'users.noreply.127.0.0.1' : 'noreply.localhost';
    site.forge.commit(site.repository, 'topic', FILES, {
      message: `feat: it\n\nCo-authored-by: Carol <carol@${domain}>`,
    });
    const number = await site.open('topic');
    const comment = await site.commentInline(number, 'bob', IN_FILE);
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

  test(`${name}: what is outdated counts unless the policy ignores it, where the forge tells it`, async (t) => {
    for (const [files, then] of [
      [rule('{}'), 'failure'],
      [rule('{ outdated: ignore }'), name === 'github' ? 'success' : 'error'],
    ] as const) {
      const site = await judgedSite(t, name, files);
      const number = await site.open(FILES);
      await site.commentInline(number, 'bob', IN_FILE);
      t.is(await stateOf(site, number), 'failure', 'before the push');
      await site.push(number, { 'a.txt': 'other\ntwo\n' });
      t.is(await stateOf(site, number), then);
    }
  });
}

test('github: a conversation that nobody is known to have resolved is undecided', async (t) => {
  const site = await judgedSite(t, 'github', rule('{ resolved_by: others }'));
  const number = await site.open(FILES);
  await site.resolve(number, 'helper[bot]', await site.commentInline(number, 'bob', IN_FILE));
  t.is(await stateOf(site, number), 'error');
});

import { DOOR } from '../helpers/door.ts';
import {
  ALL_FORGES,
  forgesOf,
  resyncNow,
  type Scene,
  shareStories,
  tellStory,
  workerComesBy,
} from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

/** Conversations at lines: none that should be resolved is passed over. */
const gatehouse = shareStories(test, ALL_FORGES);

function policyOf(threads: string, more = ''): string {
  return `version: 1\n${more}rules:\n  - id: answered\n    require: { threads: ${threads} }\n`;
}

const ANY = { '.gatehouse.yml': policyOf('{}') };
const OTHERS = { '.gatehouse.yml': policyOf('{ resolved_by: others }') };
const FILES = { 'a.txt': 'one\ntwo\n' };
const AT = { path: 'a.txt', line: 1, body: 'Why?' };
/** More than GitHub gives in one page. */
const MANY = 120;
/** More than are read of a Gitea: each is a review with a request of its own. */
const TOO_MANY_REVIEWS = 51;

/** What starts a review on a forge that tells nothing of conversations. */
async function recheck(scene: Scene, number: number): Promise<void> {
  await scene.comment(number, 'alice', '/gatehouse recheck');
  await scene.settled();
}

for (const name of FORGES) {
  const tells = name === 'github';
  const robot = tells ? 'reviewer[bot]' : 'review-bot';

  test(`${name}: a new conversation takes the success, and resolved gives it back`, async (t) => {
    const scene = gatehouse(name).scene(ANY);
    const number = await scene.open(FILES);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    const comment = await scene.commentInline(number, 'bob', AT);
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /1 unresolved conversation, `bob: a\.txt:1`/);

    await scene.resolve(number, 'alice', comment);
    await scene.settled();
    t.is(scene.status(number)?.state, tells ? 'success' : 'failure', 'only GitHub tells at once');
    await recheck(scene, number);
    t.is(scene.status(number)?.state, 'success');

    await scene.resolve(number, 'bob', comment, false);
    await scene.settled();
    t.is(scene.status(number)?.state, tells ? 'failure' : 'success');
    await scene.label(number, 'seen');
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure', 'at any other event');
  });

  test(`${name}: a resync finds changed conversations without a webhook`, async (t) => {
    await using story = await tellStory(name, ANY, {}, DOOR);
    await story.loseWebhooks(true);
    const number = await story.open(FILES);
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    const { id } = story.forge.commentInline(story.repository, number, 'bob', AT);
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
    story.forge.resolve(story.repository, number, id, 'alice');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    story.forge.resolve(story.repository, number, id, undefined);
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
  });

  test(`${name}: who made the change cannot resolve what others began`, async (t) => {
    const scene = gatehouse(name).scene(OTHERS);
    scene.forge.commit(scene.repository, 'topic', FILES, {
      message: `feat: it\n\nCo-authored-by: Carol <carol@${tells ? 'users.noreply.127.0.0.1' : 'noreply.localhost'}>`,
    });
    const number = await scene.open('topic');
    const comment = await scene.commentInline(number, 'bob', AT);
    for (const maker of ['alice', 'carol']) {
      await scene.resolve(number, maker, comment);
      await scene.label(number, `resolved-by-${maker}`);
      await scene.settled();
      t.is(scene.status(number)?.state, 'pending', `others have to act: ${maker} made the change`);
      t.is(scene.states(number).includes('success'), false);
    }
    await scene.resolve(number, 'bob', comment);
    await scene.label(number, 'resolved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    await scene.resolve(number, 'mallory', comment);
    await scene.label(number, 'resolved-by-another');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a resolution by others ends with their permission to write`, async (t) => {
    const story = gatehouse(name);
    const scene = story.scene(OTHERS);
    const number = await scene.open(FILES);
    const { id } = scene.forge.commentInline(scene.repository, number, 'bob', AT);
    scene.forge.resolve(scene.repository, number, id, 'rita');
    await scene.label(number, 'resolved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    scene.forge.addOutsider('rita');
    await resyncNow(story);
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending', scene.comments(number).join('\n'));
    scene.forge.resolve(scene.repository, number, id, 'bob');
    await scene.label(number, 'resolved-by-bob');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', 'whoever began it');
  });

  test(`${name}: who made the change cannot resolve what they began over an objection`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': policyOf('{ resolved_by: others }', 'machine_accounts: [ci]\n'),
    });
    const number = await scene.open(FILES);
    const first = scene.forge.commentInline(scene.repository, number, 'alice', AT);
    const answer = (by: string) => scene.commentInline(number, by, { ...AT, body: 'No.', replyTo: first });
    await scene.resolve(number, 'alice', first.id);
    for (const [by, state] of [
      ['alice', 'success'],
      ['ci', 'success'],
      ['bob', 'pending'],
    ] as const) {
      await answer(by);
      await scene.label(number, `answered-by-${by}`);
      await scene.settled();
      t.is(scene.status(number)?.state, state, by);
    }
    await scene.resolve(number, 'bob', first.id);
    await scene.label(number, 'resolved-by-bob');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a conversation of a dismissed review is still unresolved`, async (t) => {
    const scene = gatehouse(name).scene(ANY);
    const number = await scene.open(FILES);
    const comment = await scene.commentInline(number, 'bob', { ...AT, state: 'changes-requested' });
    const { reviews } = scene.forge.pull(scene.repository, number);
    await scene.dismiss(number, reviews.at(-1)?.id ?? 0);
    await scene.label(number, 'dismissed');
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    await scene.resolve(number, 'bob', comment);
    await scene.label(number, 'resolved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: what is outdated counts unless the policy ignores it`, async (t) => {
    const counting = gatehouse(name).scene(ANY);
    const ignoring = gatehouse(name).scene({ '.gatehouse.yml': policyOf('{ outdated: ignore }') });
    for (const [scene, then] of [[counting, 'failure'] as const, [ignoring, tells ? 'success' : 'error'] as const]) {
      const number = await scene.open(FILES);
      await scene.commentInline(number, 'bob', AT);
      await scene.settled();
      t.is(scene.status(number)?.state, 'failure', 'before the push');
      await scene.push(number, { 'a.txt': 'other\ntwo\n' });
      await scene.settled();
      t.is(scene.status(number)?.state, then);
    }
  });

  test(`${name}: the last of many conversations counts`, async (t) => {
    const scene = gatehouse(name).scene(ANY);
    const number = await scene.open(FILES);
    const { forge, repository } = scene;
    const count = tells ? MANY : TOO_MANY_REVIEWS;
    const ids = Array.from({ length: count }, () => forge.commentInline(repository, number, 'bob', AT).id);
    for (const id of ids.slice(0, -1)) {
      forge.resolve(repository, number, id, 'bob');
    }
    await scene.label(number, 'many');
    await scene.settled();
    t.is(scene.status(number)?.state, tells ? 'failure' : 'error');
    t.regex(scene.comments(number).join(), tells ? /1 unresolved conversation/ : /not all conversations could be read/);
    await scene.resolve(number, 'bob', ids.at(-1) ?? 0);
    await scene.label(number, 'resolved');
    await scene.settled();
    t.is(scene.status(number)?.state, tells ? 'success' : 'error', 'what is not read whole is never green');
  });

  test(`${name}: only conversations that bots began count where the policy says so`, async (t) => {
    const more = `machine_accounts: [review-bot]\n`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policyOf('{ from: bots }', more) });
    const number = await scene.open(FILES);
    await scene.commentInline(number, 'bob', AT);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    const comment = await scene.commentInline(number, robot, { ...AT, line: 2 });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    await scene.resolve(number, 'alice', comment);
    await recheck(scene, number);
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: an answer does not change who began a conversation`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policyOf('{ from: [bob] }') });
    const number = await scene.open(FILES);
    const first = scene.forge.commentInline(scene.repository, number, 'bob', AT);
    await scene.commentInline(number, 'alice', { ...AT, body: 'Because.', replyTo: first });
    await scene.label(number, 'answered');
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /1 unresolved conversation, `bob: a\.txt:1`/);
    await scene.resolve(number, 'alice', first.id);
    await scene.label(number, 'resolved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: Gatehouse’s own comments at lines are no conversations`, async (t) => {
    const warns = "  - { id: calm, level: warn, forbid: { added_lines: 'two' } }\n";
    const scene = gatehouse(name).scene({ '.gatehouse.yml': `${policyOf('{}')}${warns}` });
    const number = await scene.open(FILES);
    await scene.settled();
    t.is(scene.inlines(number).length, 1);
    t.is(scene.status(number)?.state, 'success');
    await scene.label(number, 'again');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: before conversations are read it is stored that they are asked for`, async (t) => {
    const scene = gatehouse(name).scene(ANY);
    let stored: readonly unknown[] | undefined;
    const number = scene.openSilently(FILES);
    const path = `${scene.repository}/pulls/${number}/${tells ? 'comments' : 'reviews'}$`;
    scene.when(undefined, new RegExp(path), async () => {
      const query = 'SELECT asks FROM gatehouse.reviews WHERE repository = $1';
      stored ??= (await scene.door.database.query(query, [scene.repository])).rows;
    });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    // Else a conversation that begins after this would start no review.
    t.deepEqual(stored, [{ asks: ['conversations'] }]);
  });

  test(`${name}: without a rule about them, a comment at a line starts no review`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': "version: 1\nrules: [{ id: x, require: { title: '.' } }]\n",
    });
    const number = await scene.open(FILES);
    await scene.settled();
    scene.forge.forgetRequests();
    const comment = await scene.commentInline(number, 'bob', AT);
    await scene.resolve(number, 'alice', comment);
    await scene.settled();
    t.deepEqual(
      scene.forge.seen.filter(({ path }) => path.includes(`/repos/${scene.repository}/`)),
      [],
    );
  });
}

test('github: conversations that may not be read are an error, never green', async (t) => {
  const scene = gatehouse('github').scene(ANY);
  const number = scene.openSilently(FILES);
  const { repository, forge } = scene;
  const path = new RegExp(`^/graphql/repos/${repository}/pulls/${number}/comments$`);
  forge.fault({ path, fault: { kind: 'status', status: 403 } });
  await scene.tell({ kind: 'pull-request', number, action: 'opened' });
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
  t.regex(scene.comments(number).join(), /not all conversations could be read/);
});

test('github: where not all answers are read, it is not known whether somebody objects', async (t) => {
  const scene = gatehouse('github').scene(OTHERS);
  const number = await scene.open(FILES);
  const first = scene.forge.commentInline(scene.repository, number, 'alice', AT);
  for (let index = 0; index < 100; index += 1) {
    scene.forge.commentInline(scene.repository, number, 'alice', { ...AT, replyTo: first });
  }
  await scene.resolve(number, 'alice', first.id);
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
});

test('github: a conversation that nobody is known to have resolved is undecided', async (t) => {
  const scene = gatehouse('github').scene(OTHERS);
  const number = await scene.open(FILES);
  const comment = await scene.commentInline(number, 'bob', AT);
  await scene.resolve(number, 'helper[bot]', comment);
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
});

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: where the forge does not tell what is resolved, the rule is undecided`, async (t) => {
    const scene = gatehouse(name).scene(ANY);
    const number = await scene.open(FILES);
    const path = new RegExp(`^/repos/${scene.repository}/pulls/${number}/reviews/\\d+/comments$`);
    scene.forge.fault({ path, fault: { kind: 'replace', text: '"resolver":null,', by: '' } });
    await scene.commentInline(number, 'bob', AT);
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /the forge does not tell whether they count, or are resolved/);
  });
}

import { type Scene, type Story, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

// Anybody may review a public pull request, and only the words of those who may write count, however many others speak.
const gatehouse = shareStories(test, ['github'], { own: true });

const OBJECTIONS = 'rules: [{ id: calm, forbid: { changes_requested: true } }]';
const APPROVALS = 'rules: [{ id: reviewed, require: { approvals: 1 } }]';
const BOTH = 'rules: [{ id: reviewed, require: { approvals: 1 } }, { id: calm, forbid: { changes_requested: true } }]';
const CHANGE = { 'a.txt': 'a\n' };

type State = Parameters<Scene['forge']['review']>[3];

function filesFor(rules: string) {
  return { '.gatehouse.yml': `version: 1\n${rules}\n` };
}

/** A pull request that nobody was told of. */
function openIn(scene: Scene, rules: string): number {
  scene.forge.commit(scene.repository, 'main', filesFor(rules));
  return scene.openSilently(CHANGE);
}

/** Reviews by people who may not write: `first` tells the names apart. */
function strangersSay(scene: Scene, number: number, state: State, many: number, first = 0): void {
  for (let index = first; index < first + many; index++) {
    scene.forge.addOutsider(`stranger-${index}`);
    scene.forge.review(scene.repository, number, `stranger-${index}`, state);
  }
}

async function judge(scene: Scene, number: number): Promise<string> {
  await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
  await scene.settled();
  return scene.status(number)?.state ?? 'none';
}

/** Logins that REST was asked about, one by one, in lower case. */
function asked({ forge, repository }: Scene): readonly string[] {
  const route = new RegExp(`^/repos/${repository}/collaborators/([^/]+)/permission`);
  return forge.seen.flatMap(({ path }) => route.exec(path)?.[1]?.toLowerCase() ?? []);
}

/** Runs one now, and tells how many reviews it requested, and whom it asked about. */
async function resync(story: Story, scene: Scene) {
  const before = story.forge.seen.length;
  const askedBefore = asked(scene).length;
  await story.resyncAll();
  await scene.settled();
  const read = story.forge.seen.slice(before).filter(({ path }) => path.includes(`${scene.repository}/pulls/`));
  return { read: read.map(({ path }) => path), asked: asked(scene).slice(askedBefore) };
}

for (const [what, before, after] of [
  ['before', 0, 150],
  ['after', 150, 0],
  ['between', 75, 75],
] as const) {
  test(`github: a writer requests changes ${what} 150 approvals of strangers`, async (t) => {
    const scene = gatehouse('github').scene({});
    const number = openIn(scene, OBJECTIONS);
    strangersSay(scene, number, 'approved', before);
    scene.forge.review(scene.repository, number, 'Wanda', 'changes-requested');
    strangersSay(scene, number, 'approved', after, before);
    t.is(await judge(scene, number), 'pending');
    t.deepEqual(asked(scene), []);
  });

  test(`github: a writer approves ${what} 150 approvals and objections of strangers`, async (t) => {
    const scene = gatehouse('github').scene({});
    const number = openIn(scene, BOTH);
    strangersSay(scene, number, 'approved', before);
    scene.forge.review(scene.repository, number, 'wanda', 'approved');
    strangersSay(scene, number, 'changes-requested', after, before);
    t.is(await judge(scene, number), 'success');
  });
}

test('github: of 300 reviewers the last two are heard', async (t) => {
  const scene = gatehouse('github').scene({});
  const number = openIn(scene, BOTH);
  strangersSay(scene, number, 'changes-requested', 149);
  strangersSay(scene, number, 'approved', 149, 149);
  t.is(await judge(scene, number), 'pending');
  const { id } = scene.forge.review(scene.repository, number, 'wanda', 'changes-requested');
  scene.forge.review(scene.repository, number, 'xenia', 'approved');
  t.is(await judge(scene, number), 'pending');
  t.is(scene.status(number)?.description, 'Waiting for another review by wanda');
  scene.forge.dismiss(scene.repository, number, id);
  t.is(await judge(scene, number), 'success');
});

test('github: an App that approves hides nobody', async (t) => {
  const scene = gatehouse('github').scene({});
  const number = openIn(scene, BOTH);
  scene.forge.review(scene.repository, number, 'helper[bot]', 'approved');
  strangersSay(scene, number, 'approved', 120);
  t.is(await judge(scene, number), 'pending');
  scene.forge.review(scene.repository, number, 'wanda', 'approved');
  t.is(await judge(scene, number), 'success');
  scene.forge.review(scene.repository, number, 'xenia', 'changes-requested');
  t.is(await judge(scene, number), 'pending');
  t.is(scene.status(number)?.description, 'Waiting for another review by xenia');
  t.deepEqual(asked(scene), [], 'GraphQL has told it');
});

/** A review by the rules of both, on a GitHub of its own whose GraphQL does less. */
async function withLess(weaken: (story: Story) => void, rules = BOTH): Promise<Story> {
  const story = await tellStory('github', filesFor(rules));
  weaken(story);
  return story;
}

const GRAPHQL_LESS: Readonly<Record<string, (story: Story) => void>> = {
  'lacks the field': ({ forge }) => forge.graphql.missing.push('authorCanPushToRepository'),
  'is down': ({ forge }) => forge.fault({ path: /^\/graphql/, fault: { kind: 'status', status: 502 } }),
  'fails at page two': (story) => {
    const { forge, repository } = story;
    const path = new RegExp(`^/graphql/repos/${repository}/pulls/\\d+/comments$`);
    const fail = () => forge.fault({ path, fault: { kind: 'status', status: 502 } });
    story.when('POST', path, () => story.when('POST', path, fail));
  },
  'gives no cursor': ({ forge, repository }) => {
    const path = new RegExp(`^/graphql/repos/${repository}/pulls/\\d+/comments$`);
    forge.fault({ path, fault: { kind: 'replace', text: '"endCursor":"100"', by: '"endCursor":null' } });
  },
};

for (const [what, weaken] of Object.entries(GRAPHQL_LESS)) {
  test(`github: 150 strangers object, and a writer, while GraphQL ${what}`, async (t) => {
    await using story = await withLess(weaken, OBJECTIONS);
    const number = story.openSilently(CHANGE);
    strangersSay(story, number, 'changes-requested', 150);
    story.forge.review(story.repository, number, 'wanda', 'changes-requested');
    t.is(await judge(story, number), 'pending', 'unknown is no success');
    t.is(new Set(asked(story)).size, 100);
  });
}

test('github: without GraphQL, objections are asked about before approvals', async (t) => {
  await using story = await withLess(
    ({ forge }) => forge.graphql.missing.push('authorCanPushToRepository'),
    OBJECTIONS,
  );
  const number = story.openSilently(CHANGE);
  strangersSay(story, number, 'approved', 150);
  story.forge.review(story.repository, number, 'wanda', 'changes-requested');
  t.is(await judge(story, number), 'pending');
  t.deepEqual(asked(story), ['wanda']);
});

for (const answer of ['null', 'absent'] as const) {
  test(`github: a permission that is ${answer} is unknown, and asked for by REST`, async (t) => {
    await using story = await tellStory('github', filesFor(BOTH));
    const { forge, repository } = story;
    const number = story.openSilently(CHANGE);
    forge.review(repository, number, 'wanda', 'approved');
    const by = answer === 'null' ? '"authorCanPushToRepository":null' : '"other":1';
    forge.fault({
      path: /^\/graphql.*\/facts$/,
      fault: { kind: 'replace', text: '"authorCanPushToRepository":true', by },
    });
    t.is(await judge(story, number), 'success');
    t.deepEqual(asked(story), ['wanda']);
    const reads = forge.seen.filter(({ path }) => path.startsWith(`/repos/${repository}/pulls/${number}/reviews`));
    t.deepEqual(reads, [], 'the rest of the answer is used');

    forge.fault({ path: /\/collaborators\//, fault: { kind: 'status', status: 403 } });
    t.is(await judge(story, number), 'pending');
  });
}

for (const [what, fault] of [
  ['403', { kind: 'status', status: 403 }],
  ['404', { kind: 'status', status: 404 }],
  ['a new word', { kind: 'json', body: { permission: 'push', role_name: 'push' } }],
] as const) {
  test(`github: an objection is not forgotten where the permission is ${what}`, async (t) => {
    await using story = await withLess(
      ({ forge }) => forge.graphql.missing.push('authorCanPushToRepository'),
      OBJECTIONS,
    );
    const number = story.openSilently(CHANGE);
    story.forge.review(story.repository, number, 'wanda', 'changes-requested');
    story.forge.fault({ path: /\/collaborators\//, fault });
    t.is(await judge(story, number), 'pending');
  });
}

test('github: whoever has no account any more may not write', async (t) => {
  const scene = gatehouse('github').scene({});
  const number = openIn(scene, BOTH);
  scene.forge.review(scene.repository, number, 'ghost', 'approved');
  t.is(await judge(scene, number), 'pending');
  scene.forge.review(scene.repository, number, 'wanda', 'approved');
  scene.forge.review(scene.repository, number, 'ghost', 'changes-requested');
  t.is(await judge(scene, number), 'success');
});

const ALL = ['stranger-0', 'stranger-1', 'wanda'];
const PERMISSIONS = /^\/graphql\/permissions$/;

/** What GraphQL does when a resync comes, and who of {@link ALL} is then asked about by REST. */
const RESYNCS: Readonly<Record<string, readonly [(story: Story) => void, readonly string[]]>> = {
  answers: [() => {}, []],
  'fails for reviewers': [
    ({ forge }) => forge.fault({ path: PERMISSIONS, fault: { kind: 'status', status: 502 } }),
    ALL,
  ],
  'has no more points': [
    ({ forge }) =>
      forge.fault({
        path: PERMISSIONS,
        fault: { kind: 'json', body: { errors: [{ type: 'RATE_LIMITED', message: 'no' }] } },
      }),
    ALL,
  ],
  'lacks the field': [({ forge }) => forge.graphql.missing.push('authorCanPushToRepository'), ALL],
  'may not show it': [({ forge }) => forge.graphql.forbidden.push('authorCanPushToRepository'), ALL],
  'leaves one open': [
    ({ forge }) => {
      const [text, by] = ['"login":"Wanda"},"authorCanPushToRepository":true', '"login":"Wanda"}'];
      forge.fault({ path: PERMISSIONS, fault: { kind: 'replace', text, by } });
    },
    ['wanda'],
  ],
};

for (const [what, [weaken, people]] of Object.entries(RESYNCS)) {
  test(`github: a resync of nothing new requests no review: GraphQL ${what}`, async (t) => {
    await using story = await tellStory('github', filesFor(BOTH));
    const { forge, repository } = story;
    const number = story.openSilently(CHANGE);
    strangersSay(story, number, 'changes-requested', 1);
    strangersSay(story, number, 'approved', 1, 1);
    for (const login of ['helper[bot]', 'Copilot', 'ghost']) {
      forge.review(repository, number, login, 'changes-requested');
    }
    forge.review(repository, number, 'Wanda', 'approved');
    t.is(await judge(story, number), 'success');
    // What was changed this very second is looked at again by each resync.
    forge.age(60_000);
    await resync(story, story);
    weaken(story);
    const { read, asked: about } = await resync(story, story);
    t.deepEqual(read, [], 'no pull request is read');
    t.deepEqual(about.toSorted(), people);
    // REST is asked in lower case.
    for (const login of ['Wanda', 'wanda']) {
      forge.addOutsider(login);
    }
    await resync(story, story);
    t.is(story.status(number)?.state, 'pending');
  });
}

/** Those REST requests and queries of a resync that ask who may write. */
async function questions(story: Story) {
  story.forge.age(60_000);
  await resync(story, story);
  story.forge.forgetRequests();
  await resync(story, story);
  const paths = story.forge.seen.map(({ path }) => path);
  return {
    rest: paths.filter((path) => path.includes('/collaborators/')).length,
    queries: paths.filter((path) => PERMISSIONS.test(path)).length,
  };
}

for (const [what, repositories, opened, people] of [
  ['a repository’s 30 pull requests', 1, 30, ['ann', 'bea', 'cleo', 'dora', 'eve']],
  ['10 repositories', 10, 1, ['ann', 'bea']],
] as const) {
  test(`github: one query of a resync asks who may write in ${what}`, async (t) => {
    await using story = await tellStory('github');
    for (let repository = 0; repository < repositories; repository++) {
      const scene = story.scene(filesFor(APPROVALS));
      for (let index = 0; index < opened; index++) {
        const number = scene.openSilently({ [`${index}.txt`]: 'a\n' });
        for (const login of people) {
          scene.forge.review(scene.repository, number, login, 'approved');
        }
        t.is(await judge(scene, number), 'success');
      }
    }
    t.deepEqual(await questions(story), { rest: 0, queries: 1 });
  });
}

test('github: a resync asks nobody’s permission where nobody has decided', async (t) => {
  await using story = await tellStory('github', filesFor(BOTH));
  const number = story.openSilently(CHANGE);
  story.forge.review(story.repository, number, 'wanda', 'commented');
  t.is(await judge(story, number), 'pending');
  t.deepEqual(await questions(story), { rest: 0, queries: 0 });
});

for (const order of ['before', 'behind'] as const) {
  for (const graphql of ['answers', 'is down'] as const) {
    test(`github: a resync finds lost access ${order} 150 strangers: GraphQL ${graphql}`, async (t) => {
      await using story = await tellStory('github', filesFor(BOTH));
      const { forge, repository } = story;
      const number = story.openSilently(CHANGE);
      const approve = () => forge.review(repository, number, 'yara', 'approved');
      if (order === 'before') {
        approve();
      }
      strangersSay(story, number, 'changes-requested', 150);
      if (order === 'behind') {
        approve();
      }
      t.is(await judge(story, number), 'success');
      forge.age(60_000);
      await resync(story, story);
      if (graphql === 'is down') {
        forge.fault({ path: /^\/graphql/, fault: { kind: 'status', status: 502 } });
      }
      forge.addOutsider('yara');
      await resync(story, story);
      t.is(story.status(number)?.state, 'pending');
    });
  }
}
test.serial('github: a resync finds that one of 150 strangers who object may write now', async (t) => {
  const story = gatehouse('github');
  const scene = story.scene({});
  const number = openIn(scene, BOTH);
  strangersSay(scene, number, 'changes-requested', 150);
  scene.forge.review(scene.repository, number, 'zoe', 'approved');
  t.is(await judge(scene, number), 'success');
  story.forge.age(60_000);
  scene.forge.removeOutsider('stranger-149');
  await resync(story, scene);
  t.is(scene.status(number)?.state, 'pending');
  t.is(scene.status(number)?.description, 'Waiting for another review by stranger-149');
});

test('github: an approver who may not write, as GraphQL says, may be unknown to REST', async (t) => {
  await using story = await tellStory('github', filesFor(APPROVALS));
  const { forge } = story;
  const number = story.openSilently(CHANGE);
  strangersSay(story, number, 'approved', 1);
  t.is(await judge(story, number), 'pending');
  forge.age(60_000);
  await resync(story, story);
  forge.fault({ path: PERMISSIONS, fault: { kind: 'status', status: 502 } });
  forge.fault({ path: /\/collaborators\//, fault: { kind: 'status', status: 404 } });
  const { read, asked: about } = await resync(story, story);
  t.deepEqual([read, about], [[], ['stranger-0']], 'no pull request is read');
});

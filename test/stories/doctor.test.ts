import { askDoctor } from '../helpers/doctor.ts';
import { DOOR, SECRET } from '../helpers/door.ts';
import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { forgesOf, REPOSITORY, tellStory } from '../helpers/story.ts';
import ava from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava;

const FILES = { '.gatehouse.yml': CONVENTIONAL_TITLES };

const GITHUB_EVENTS = ['pull_request', 'pull_request_review', 'push'];

/** An installation as it should be: a webhook to the door, the status required, and an account that may see both. */
async function wellSetUp(name: (typeof FORGES)[number], files: Readonly<Record<string, string>> = FILES) {
  const story = await tellStory(name, files, {}, DOOR);
  const { forge, door } = story;
  forge.addAdministrator('gatehouse');
  forge.protect(REPOSITORY, 'main', ['gatehouse/main']);
  const [hook] = forge.hooks(REPOSITORY);
  if (hook === undefined) {
    throw new Error('the story has no webhook');
  }
  if (name === 'github') {
    hook.events = GITHUB_EVENTS;
  }
  const webhookUrl = `${door.url}/webhook`;
  return {
    story,
    hook,
    webhookUrl,
    ask: (args: readonly string[] = [REPOSITORY], env: Readonly<Record<string, string | undefined>> = {}) =>
      askDoctor(args, { ...story.environment, ...env }),
  };
}

for (const name of FORGES) {
  const onGitHub = name === 'github';

  test(`${name}: doctor finds nothing wrong where all is set up, and changes nothing`, async (t) => {
    const { story, ask, webhookUrl } = await wellSetUp(name);
    await using _story = story;
    story.forge.forgetRequests();
    const said = await ask([REPOSITORY, '--url', webhookUrl]);
    t.is(said.code, 0, said.text);
    t.false(said.text.includes('✘'));
    t.is(story.forge.writes(), 0);
    const expected = ['configuration', 'database', 'database schema', 'database rights', 'redis', 'forge'];
    const ofRepository = ['repository', 'policy', 'teams', 'required status', 'webhook', 'webhook events'];
    for (const check of [...expected, ...ofRepository]) {
      t.true(said.of(check)[0]?.startsWith('✔'), `${check}: ${said.text}`);
    }
    t.is(said.of('scopes')[0]?.[0], onGitHub ? '?' : '✔');
    const json = JSON.parse((await ask([REPOSITORY, '--json'])).text);
    t.true(json.ok);
    t.deepEqual(Object.keys(json.checks[0]), ['check', 'result', 'message']);
  });

  test(`${name}: doctor prints no secret, also not one in a URL`, async (t) => {
    const { story, hook, ask, webhookUrl } = await wellSetUp(name);
    await using _story = story;
    hook.url = webhookUrl.replace('://', '://user:sesame1@').concat('?key=sesame2');
    story.forge.addHook(REPOSITORY, { url: 'https://chat.example.com/hooks/sesame3', secret: 'sesame4' });
    const forgeUrl = new URL(story.forge.url);
    forgeUrl.username = 'sesame5';
    const secrets = { WEBHOOK_SECRET: 'sesame6 and more of it', FORGE_TOKEN: story.forge.token };
    const wrongUrls = {
      DATABASE_URL: 'postgres://user:sesame7@127.0.0.1:1/x',
      REDIS_URL: 'redis://:sesame8@127.0.0.1:1',
    };
    for (const url of [hook.url, 'https://nothing.example.com/webhook']) {
      hook.url = url;
      for (const args of [[REPOSITORY], [REPOSITORY, '--url', webhookUrl], [REPOSITORY, '--json']]) {
        const { text } = await ask(args, { ...secrets, ...wrongUrls, FORGE_URL: forgeUrl.href });
        t.false(text.includes('sesame'), text);
        t.false(text.includes(story.forge.token), text);
      }
    }
  });

  test(`${name}: doctor finds a webhook that is deleted, inactive, or leads elsewhere`, async (t) => {
    const { story, hook, ask, webhookUrl } = await wellSetUp(name);
    await using _story = story;
    const about = async (args?: readonly string[]) => {
      const said = await ask(args);
      return [said.code, said.of('webhook').join('\n')];
    };

    hook.active = false;
    t.deepEqual(await about(), [1, `✘ the webhook of the repository, to ${webhookUrl} is inactive → activate it`]);
    hook.active = true;
    hook.contentType = 'form';
    t.regex(String(await about()), /^1,✘ .* does not send JSON: its deliveries are refused with 415/);
    hook.contentType = 'json';

    const elsewhere = 'https://gatehouse.example.com/webhook';
    const { host } = new URL(webhookUrl);
    t.deepEqual(await about([REPOSITORY, '--url', elsewhere]), [
      1,
      `✘ none leads to ${elsewhere}; there are others, to ${host} → add one to ${elsewhere}, or correct the URL`,
    ]);
    hook.url = `${story.door.url}/webhooks`;
    t.regex(String(await about()), /^1,✘ none leads to .*; there are others, to .*, or correct the URL$/);
    hook.url = 'https://chat.example.com/hooks/1234';
    t.is(
      (await about())[1],
      '✘ none leads to https://<host of the door>/webhook; there are others, to chat.example.com → add one to https://<host of the door>/webhook, or correct the URL',
    );

    story.forge.deleteHook(REPOSITORY, hook.id);
    const said = await ask();
    t.is(
      said.of('webhook')[0],
      '✘ none leads to https://<host of the door>/webhook → add one to https://<host of the door>/webhook, or correct the URL',
    );
    t.deepEqual(said.of('webhook events'), ['? skipped: no webhook was found']);
  });

  test(`${name}: doctor finds the events that a webhook lacks, for this policy too`, async (t) => {
    const { story, hook, ask } = await wellSetUp(name, {
      '.gatehouse.yml': `${CONVENTIONAL_TITLES}  - id: ci\n    require: { checks: { name: build } }\noverride: { by: [alice] }\n`,
    });
    await using _story = story;
    hook.events = ['push'];
    const [line = ''] = (await ask()).of('webhook events');
    t.true(line.startsWith('✘ missing: '), line);
    const titles = {
      github: ['Pull request', 'Pull request review', 'Issue comment', 'Status', 'Check run', 'Check suite'],
      gitea: ['Pull Request', 'Pull Request Reviewed', 'Pull Request Comment', 'Commit Status'],
      forgejo: ['Pull Request', 'Pull Request Reviewed', 'Pull Request Comment'],
    }[name];
    for (const title of titles) {
      t.true(line.includes(title), `${title}: ${line}`);
    }
    t.is(line.includes('Status'), name !== 'forgejo');
  });

  test(`${name}: doctor says what it may not see of webhooks`, async (t) => {
    const { story } = await wellSetUp(name);
    await using _story = story;
    story.forge.addToken('of-a-writer', 'writer');
    const said = await askDoctor([REPOSITORY], { ...story.environment, FORGE_TOKEN: 'of-a-writer' });
    t.is(said.code, 0, said.text);
    const [line = ''] = said.of('webhook');
    t.regex(line, /^\? cannot be checked: these credentials may not list those of the repository/);
  });

  test(`${name}: doctor finds a broken policy, none, and teams that it cannot see`, async (t) => {
    const { story, ask } = await wellSetUp(name, {
      '.gatehouse.yml': `${CONVENTIONAL_TITLES}  - id: security\n    require: { approvals: { count: 1, from: ['@acme/security', '@acme/nobody'] } }\n`,
    });
    await using _story = story;
    const { forge } = story;
    forge.createTeam('acme/security', ['alice', 'bob']);
    const first = await ask();
    t.is(first.code, 1);
    t.is(first.of('policy')[0], '✔ .gatehouse.yml on main has 2 rules');
    t.is(
      first.of('teams').find((line) => line.includes('security')),
      '✔ @acme/security has 2 members',
    );
    t.regex(first.of('teams').find((line) => line.includes('nobody')) ?? '', /^✘ @acme\/nobody does not exist, or/);

    const byMembers = `${CONVENTIONAL_TITLES}  - id: members\n    require: { author: '@acme/*' }\n`;
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': byMembers });
    const hidden = (await ask()).of('teams')[0] ?? '';
    t.regex(
      hidden,
      /^✘ hidden members of acme cannot be seen: .* → (?:give the permission Organisation: Members|give the scope read:organization and make)/,
    );
    forge.addMember('acme', 'gatehouse');
    t.deepEqual((await ask()).of('teams'), ['✔ all members of acme can be seen']);

    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': 'version: 1\nrules:\n  - id: a\n    requires: {}\n' });
    const broken = await ask();
    t.regex(broken.of('policy')[0] ?? '', /^✘ \.gatehouse\.yml:4:5: /);
    t.deepEqual(broken.of('teams'), ['? skipped: no valid policy']);

    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': null });
    const none = await ask();
    t.regex(none.of('policy')[0] ?? '', /^✘ acme\/widgets has no policy on main: nothing is reviewed/);
    forge.commit(REPOSITORY, 'main', { 'gatehouse.yml': 'version: 1\n', '.gatehouse.test.yaml': 'cases: []\n' });
    forge.createRepository('acme/.rules', { '.gatehouse.yaml': 'version: 1\n' });
    const misnamed = (await ask([REPOSITORY], { POLICY_REPOSITORY: '.rules' })).of('policy');
    for (const said of [
      /^✘ gatehouse\.yml on main is ignored .* → rename it to \.gatehouse\.yml$/m,
      /^✘ \.gatehouse\.test\.yaml on main is ignored .* → rename it to \.gatehouse\.test\.yml$/m,
      /acme\/\.rules has no policy in main: it has \.gatehouse\.yaml, and .* rename it to \.gatehouse\.yml/,
      /^✘ acme\/widgets has no policy on main/m,
    ]) {
      t.regex(misnamed.join('\n'), said);
    }
    const elsewhere = await ask(['acme/elsewhere']);
    t.regex(elsewhere.of('repository')[0] ?? '', /^✘ acme\/elsewhere does not exist, or these credentials may not/);
    t.deepEqual(elsewhere.of('webhook'), ['? skipped: no repository']);
  });

  test(`${name}: doctor finds teams without which it cannot know who may write`, async (t) => {
    const approved = `${CONVENTIONAL_TITLES}  - id: approved\n    require: { approvals: 1 }\n`;
    const { story } = await wellSetUp(name, { '.gatehouse.yml': approved });
    await using _story = story;
    const { forge } = story;
    forge.createTeam('acme/readers', ['rita']);
    forge.grantTeam(REPOSITORY, 'acme/readers', 'read');
    forge.addToken('of-a-writer', 'writer');
    const teams = async () =>
      (await askDoctor([REPOSITORY], { ...story.environment, FORGE_TOKEN: 'of-a-writer' })).of('teams').join('\n');
    const none = '✔ the policy names none';
    const hidden = onGitHub
      ? none
      : '✘ the members of the team readers cannot be seen: whether they may write is not known → give the scope read:organization and add Gatehouse’s account to the teams of the repository, except administrators’';
    t.is(await teams(), hidden);
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': `${CONVENTIONAL_TITLES}override: { by: [alice] }\n` });
    t.is(await teams(), hidden, 'an override counts only by somebody who may write');
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': CONVENTIONAL_TITLES });
    t.is(await teams(), none, 'no rule depends on it');
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': approved });
    forge.createTeam('acme/readers', ['rita', 'writer']);
    t.is(await teams(), none);
  });

  test(`${name}: doctor finds a status that is not required, or by a wrong name`, async (t) => {
    const { story, ask } = await wellSetUp(name);
    await using _story = story;
    const { forge } = story;
    const line = async () => (await ask()).of('required status').join('\n');
    t.is(await line(), '✔ gatehouse/main is required on main');
    forge.protect(REPOSITORY, 'main', ['ci']);
    t.regex(
      await line(),
      /^✘ gatehouse\/main is not required on main, which requires ci: what Gatehouse says blocks no merge/,
    );
    for (const wrong of ['gatehouse', 'gatehouse/master']) {
      forge.protect(REPOSITORY, 'main', ['ci', wrong]);
      const said = await line();
      t.true(said.startsWith(`✘ gatehouse/main is not required on main, which requires ci, ${wrong}: `), said);
      t.true(said.includes(' → require gatehouse/main there'), said);
    }
    forge.protect(REPOSITORY, 'main', ['GATEHOUSE/MAIN']);
    t.is((await line())[0], onGitHub ? '✔' : '✘');
    forge.protect(REPOSITORY, 'main', ['gatehouse/*']);
    t.is((await line())[0], '✘');
  });

  test(`${name}: doctor finds a token that is refused, and a forge that is not there`, async (t) => {
    const { story, ask } = await wellSetUp(name);
    await using _story = story;
    const refused = await ask([REPOSITORY], { FORGE_TOKEN: 'revoked' });
    t.is(refused.code, 1);
    t.regex(refused.of('forge')[0] ?? '', /^✘ .*401.* → replace FORGE_TOKEN/);
    t.deepEqual(refused.of('webhook'), ['? skipped: no access to the forge']);
    const { text } = await ask([REPOSITORY], { FORGE_TOKEN: 'two\nlines' });
    t.regex(text, /FORGE_TOKEN: contains a space, a line break/);
    t.notRegex(text, /two\nlines|DNS/);
    const gone = await ask([REPOSITORY], { FORGE_URL: 'http://127.0.0.1:1' });
    t.regex(gone.of('forge')[0] ?? '', /^✘ .* → check FORGE_URL/);
    t.deepEqual(gone.of('scopes'), ['? skipped: no access to the forge']);
    t.regex(gone.of('redis')[0] ?? '', /^✔/, 'the others are checked all the same');
  });
}

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: doctor names the scopes that a token lacks, for teams too`, async (t) => {
    const { story } = await wellSetUp(name, {
      '.gatehouse.yml': `${CONVENTIONAL_TITLES}  - id: security\n    require: { approvals: { count: 1, from: ['@acme/security'] } }\n`,
    });
    await using _story = story;
    story.forge.addToken('poor', 'gatehouse', ['read:repository', 'read:user']);
    const said = await askDoctor([REPOSITORY], { ...story.environment, FORGE_TOKEN: 'poor' });
    t.is(said.code, 1);
    const lacking = /^✘ the credentials lack: write:repository, write:issue, read:organization → add them/;
    t.regex(said.of('scopes')[0] ?? '', lacking);
    const ofAll = await askDoctor([], { ...story.environment, FORGE_TOKEN: 'poor' });
    t.regex(ofAll.of('scopes')[0] ?? '', /^✘ the credentials lack: write:repository, write:issue → add them/);
  });
}

test('github: doctor finds what an App lacks: permissions, a secret, its source', async (t) => {
  const { story } = await wellSetUp('github');
  await using _story = story;
  const { forge, environment } = story;
  const { app } = forge;
  app.install('acme');
  app.hook = { url: `${story.door.url}/webhook`, content_type: 'json', secret: null };
  forge.protect(REPOSITORY, 'main', ['gatehouse/main'], 1);
  const env = {
    ...environment,
    FORGE_TOKEN: undefined,
    GITHUB_APP_ID: app.id,
    GITHUB_APP_PRIVATE_KEY: app.privateKey,
  };
  app.permissions = { ...app.permissions, statuses: 'read' };
  const said = await askDoctor([REPOSITORY], env);
  t.regex(said.of('forge')[0] ?? '', /^✔ .* those of gatehouse-app\[bot\]$/);
  t.is(said.of('scopes')[0]?.startsWith('✘ the credentials lack: Commit statuses: read and write'), true);
  t.regex(
    said.of('webhook')[0] ?? '',
    /^✘ the webhook of the app, .* has no secret: its deliveries are refused with 401/,
  );
  t.regex(said.of('required status')[0] ?? '', /^✘ gatehouse\/main is required from the App 1, which is not Gatehouse/);

  const byMembers = `${CONVENTIONAL_TITLES}  - id: members\n    require: { author: '@acme/*' }\n`;
  forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': byMembers });
  const { members: _, ...withoutMembers } = app.permissions;
  app.permissions = withoutMembers;
  const lacking = await askDoctor([REPOSITORY], env);
  t.regex(lacking.of('scopes')[0] ?? '', /lack: .*Members: read/);
  t.regex(lacking.of('teams')[0] ?? '', /^✘ hidden members of acme cannot be seen/);
  forge.commit(REPOSITORY, 'main', FILES);

  app.permissions = { ...app.permissions, statuses: 'write', members: 'read' };
  app.hook = { ...app.hook, secret: SECRET };
  forge.protect(REPOSITORY, 'main', ['gatehouse/main'], Number(app.id));
  const now = await askDoctor([REPOSITORY], env);
  t.is(now.code, 0, now.text);
  t.is(now.of('required status')[0], '✔ gatehouse/main is required on main');
});

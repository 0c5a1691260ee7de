import { askDoctor } from '../helpers/doctor.ts';
import { SECRET } from '../helpers/door.ts';
import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { ALL_FORGES, shareStories } from '../helpers/story.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;
const gatehouse = shareStories(ava, ALL_FORGES, { own: true });

const FILES = { '.gatehouse.yml': CONVENTIONAL_TITLES };

const GITHUB_EVENTS = ['pull_request', 'pull_request_review', 'push'];

/** An installation as it should be: a webhook to the door, the status required, and an account that may see both. */
function wellSetUp(name: (typeof ALL_FORGES)[number], files: Readonly<Record<string, string>> = FILES) {
  const { environment } = gatehouse(name);
  const scene = gatehouse(name).scene(files);
  const { forge, door, repository } = scene;
  forge.addAdministrator('gatehouse');
  forge.protect(repository, 'main', ['gatehouse/main']);
  const [hook] = forge.hooks(repository);
  if (hook === undefined) {
    throw new Error('the scene has no webhook');
  }
  if (name === 'github') {
    hook.events = GITHUB_EVENTS;
  }
  return {
    forge,
    repository,
    hook,
    environment,
    webhookUrl: `${door.url}/webhook`,
    ask: (args: readonly string[] = [repository], env: Readonly<Record<string, string | undefined>> = {}) =>
      askDoctor(args, { ...environment, ...env }),
  };
}

for (const name of ALL_FORGES) {
  const onGitHub = name === 'github';

  test(`${name}: doctor finds nothing wrong where all is set up, and changes nothing`, async (t) => {
    const { forge, repository, ask, webhookUrl } = wellSetUp(name);
    forge.forgetRequests();
    const said = await ask([repository, '--url', webhookUrl]);
    t.is(said.code, 0, said.text);
    t.false(said.text.includes('✘'));
    t.is(forge.writes(), 0);
    const expected = ['configuration', 'database', 'database schema', 'database rights', 'redis', 'forge'];
    const ofRepository = ['repository', 'policy', 'teams', 'required status', 'webhook', 'webhook events'];
    for (const check of [...expected, ...ofRepository]) {
      t.true(said.of(check)[0]?.startsWith('✔'), `${check}: ${said.text}`);
    }
    t.is(said.of('scopes')[0]?.[0], onGitHub ? '?' : '✔');
    const json = JSON.parse((await ask([repository, '--json'])).text);
    t.true(json.ok);
    t.deepEqual(Object.keys(json.checks[0]), ['check', 'result', 'message']);
  });

  test(`${name}: doctor prints no secret, also not one in a URL`, async (t) => {
    const { forge, repository, hook, ask, webhookUrl } = wellSetUp(name);
    hook.url = webhookUrl.replace('://', '://user:sesame1@').concat('?key=sesame2');
    forge.addHook(repository, { url: 'https://chat.example.com/hooks/sesame3', secret: 'sesame4' });
    const forgeUrl = new URL(forge.url);
    forgeUrl.username = 'sesame5';
    const secrets = { WEBHOOK_SECRET: 'sesame6 and more of it', FORGE_TOKEN: forge.token };
    const wrongUrls = {
      DATABASE_URL: 'postgres://user:sesame7@127.0.0.1:1/x',
      REDIS_URL: 'redis://:sesame8@127.0.0.1:1',
    };
    for (const url of [hook.url, 'https://nothing.example.com/webhook']) {
      hook.url = url;
      for (const args of [[repository], [repository, '--url', webhookUrl], [repository, '--json']]) {
        const { text } = await ask(args, { ...secrets, ...wrongUrls, FORGE_URL: forgeUrl.href });
        t.false(text.includes('sesame'), text);
        t.false(text.includes(forge.token), text);
      }
    }
  });

  test(`${name}: doctor finds the events that a webhook lacks, for this policy too`, async (t) => {
    const { hook, ask } = wellSetUp(name, {
      '.gatehouse.yml': `${CONVENTIONAL_TITLES}  - id: ci\n    require: { checks: { name: build } }\noverride: { by: [alice] }\n`,
    });
    hook.events = ['push'];
    const [line = ''] = (await ask()).of('webhook events');
    const titles = {
      github: /^✘ missing: .*Pull request,.*Pull request review,.*Issue comment.*Status.*Check run.*Check suite/,
      gitea: /^✘ missing: .*Pull Request,.*Pull Request Reviewed.*Pull Request Comment.*Commit Status/,
      forgejo: /^✘ missing: (?!.*Status).*Pull Request,.*Pull Request Reviewed.*Pull Request Comment/,
    }[name];
    t.regex(line, titles);
  });

  test(`${name}: doctor finds a broken policy, none, and teams that it cannot see`, async (t) => {
    const { forge, repository, ask } = wellSetUp(name);
    forge.createTeam('acme/security', ['alice', 'bob']);
    forge.createRepository('acme/.rules', { '.gatehouse.yaml': 'version: 1\n' });
    const ofTeams = `${CONVENTIONAL_TITLES}  - id: security\n    require: { approvals: { count: 1, from: ['@acme/security', '@acme/nobody'] } }\n`;
    const misnamed = { '.gatehouse.yml': null, 'gatehouse.yml': 'version: 1\n', '.gatehouse.test.yaml': 'cases: []\n' };
    for (const [files, ...expected] of [
      [
        { '.gatehouse.yml': ofTeams },
        /^✔ policy: \.gatehouse\.yml on main has 2 rules$/m,
        /^✔ teams: @acme\/security has 2 members$/m,
        /^✘ teams: @acme\/nobody does not exist, or/m,
      ],
      [
        { '.gatehouse.yml': `${CONVENTIONAL_TITLES}  - id: members\n    require: { author: '@acme/*' }\n` },
        /^✘ teams: these credentials cannot see hidden members of acme: .* → (?:give the permission Organisation: Members|give the scope read:organization and make)/m,
      ],
      [
        { '.gatehouse.yml': 'version: 1\nrules:\n  - id: a\n    requires: {}\n' },
        /^✘ policy: \.gatehouse\.yml:4:5: /m,
        /^\? teams: skipped: no valid policy$/m,
      ],
      [
        misnamed,
        /^✘ policy: gatehouse\.yml on main is ignored .* → rename it to \.gatehouse\.yml$/m,
        /^✘ policy: \.gatehouse\.test\.yaml on main is ignored .* → rename it to \.gatehouse\.test\.yml$/m,
        /acme\/\.rules has no policy in main: it has \.gatehouse\.yaml, and .* rename it to \.gatehouse\.yml/m,
        /^✘ policy: acme\/scene-\d+ has no policy on main: nothing is reviewed/m,
      ],
    ] as const) {
      forge.commit(repository, 'main', files);
      const said = await ask([repository], files === misnamed ? { POLICY_REPOSITORY: '.rules' } : {});
      t.is(said.code, 1);
      const lines = ['policy', 'teams'].flatMap((check) =>
        said.of(check).map((line) => line.replace(' ', ` ${check}: `)),
      );
      for (const line of expected) {
        t.regex(lines.join('\n'), line);
      }
    }
    const elsewhere = await ask(['acme/elsewhere']);
    t.regex(elsewhere.of('repository')[0] ?? '', /^✘ acme\/elsewhere does not exist, or these credentials cannot/);
    t.deepEqual(elsewhere.of('webhook'), ['? skipped: no repository']);
  });

  test(`${name}: doctor finds teams without which it cannot know who may write`, async (t) => {
    const { forge, repository, ask } = wellSetUp(name);
    forge.createTeam('acme/readers', ['rita']);
    forge.grantTeam(repository, 'acme/readers', 'read');
    forge.addToken('of-a-writer', 'writer');
    const approved = `${CONVENTIONAL_TITLES}  - id: approved\n    require: { approvals: 1 }\n`;
    const toldOf = async (policy: string) => {
      forge.commit(repository, 'main', { '.gatehouse.yml': policy });
      const said = await ask([repository], { FORGE_TOKEN: 'of-a-writer' });
      return { said, code: said.code, teams: said.of('teams').join('\n') };
    };
    const none = '✔ the policy names none';
    const hidden = onGitHub
      ? none
      : '✘ these credentials cannot see the members of team readers: Gatehouse cannot tell whether they can write → give the scope read:organization and add Gatehouse’s account to the teams of the repository, except administrators’';
    t.is((await toldOf(approved)).teams, hidden);
    const { teams } = await toldOf(`${CONVENTIONAL_TITLES}override: { by: [alice] }\n`);
    t.is(teams, hidden, 'an override counts only by somebody who may write');
    t.is((await toldOf(CONVENTIONAL_TITLES)).teams, none, 'no rule depends on it');
    forge.createTeam('acme/readers', ['rita', 'writer']);
    const { said, ...seen } = await toldOf(approved);
    t.deepEqual(seen, { code: 0, teams: none }, 'what may not be seen is no fault');
    t.regex(
      said.of('webhook')[0] ?? '',
      /^\? cannot be checked: these credentials cannot list the webhooks of the repository/,
    );
  });

  test(`${name}: doctor finds a token that is refused, and a forge that is not there`, async (t) => {
    const { repository, ask } = wellSetUp(name);
    const refused = await ask([repository], { FORGE_TOKEN: 'revoked' });
    t.is(refused.code, 1);
    t.regex(refused.of('forge')[0] ?? '', /^✘ .*401.* → replace FORGE_TOKEN/);
    t.deepEqual(refused.of('webhook'), ['? skipped: no access to the forge']);
    const { text } = await ask([repository], { FORGE_TOKEN: 'two\nlines' });
    t.regex(text, /FORGE_TOKEN: contains a space, a line break/);
    t.notRegex(text, /two\nlines|DNS/);
    const gone = await ask([repository], { FORGE_URL: 'http://127.0.0.1:1' });
    t.regex(gone.of('forge')[0] ?? '', /^✘ .* → check FORGE_URL/);
    t.deepEqual(gone.of('scopes'), ['? skipped: no access to the forge']);
    t.regex(gone.of('redis')[0] ?? '', /^✔/, 'the others are checked all the same');
  });
}

test('github: doctor finds what an App lacks: permissions, a secret, its source', async (t) => {
  const { forge, repository, environment, webhookUrl } = wellSetUp('github');
  const { app } = forge;
  app.install('acme');
  app.hook = { url: webhookUrl, content_type: 'json', secret: null };
  forge.protect(repository, 'main', ['gatehouse/main'], 1);
  const env = {
    ...environment,
    FORGE_TOKEN: undefined,
    GITHUB_APP_ID: app.id,
    GITHUB_APP_PRIVATE_KEY: app.privateKey,
  };
  app.permissions = { ...app.permissions, statuses: 'read' };
  const said = await askDoctor([repository], env);
  t.regex(said.of('forge')[0] ?? '', /^✔ .* credentials of gatehouse-app\[bot\]$/);
  t.is(said.of('scopes')[0]?.startsWith('✘ the credentials lack: Commit statuses: read and write'), true);
  t.regex(
    said.of('webhook')[0] ?? '',
    /^✘ the webhook of the app, .* has no secret: its deliveries are refused with 401/,
  );
  t.regex(said.of('required status')[0] ?? '', /^✘ gatehouse\/main is required from App 1, which is not Gatehouse/);

  const byMembers = `${CONVENTIONAL_TITLES}  - id: members\n    require: { author: '@acme/*' }\n`;
  forge.commit(repository, 'main', { '.gatehouse.yml': byMembers });
  const { members: _, ...withoutMembers } = app.permissions;
  app.permissions = withoutMembers;
  t.regex((await askDoctor([repository], env)).of('scopes')[0] ?? '', /lack: .*Members: read/);
  forge.commit(repository, 'main', FILES);

  app.permissions = { ...app.permissions, statuses: 'write', members: 'read' };
  app.hook = { ...app.hook, secret: SECRET };
  forge.protect(repository, 'main', ['gatehouse/main'], Number(app.id));
  const now = await askDoctor([repository], env);
  t.is(now.code, 0, now.text);
  t.is(now.of('required status')[0], '✔ gatehouse/main is required on main');
});

import type { ForgeName } from '../../../src/forges/port/forges.ts';
import test from '../../helpers/test.ts';
import { policyOf } from '../../unit/review/judge.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES } from './setup.ts';

/** What a forge does not find at a commit may be there: it may not know the commit yet. */
const STRICT = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
`;
const LAX = STRICT.replace('<= 1', '<= 9');
const OWNED = `version: 1
rules:
  - id: owners
    require: { approvals: { from: [CODEOWNERS] } }
`;
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

/** From now on a commit is not found where its files are read: on GitHub by REST, with GraphQL unavailable. */
function findsNothing({ forge, repository }: JudgedSite, files: string, status: number, times = Infinity): void {
  if (forge.name === 'github') {
    forge.fault({ path: new RegExp(`^/graphql/repos/${repository}/`), fault: { kind: 'status', status: 502 } });
  }
  forge.fault({ path: new RegExp(`^/repos/${repository}/(?:${files})$`), times, fault: { kind: 'status', status } });
}

function filesAt(name: ForgeName, commit: string): string {
  return name === 'github' ? `contents/.*|git/trees/${commit}` : `git/trees/${commit}`;
}

for (const name of FORGES) {
  test(`${name}: no answer "not found" for the policy frees what it blocks, nor has the operator's judge`, async (t) => {
    // Gitea and Forgejo answer 400, too, for a commit that they do not find.
    for (const status of name === 'github' ? [404] : [404, 400]) {
      const site = await judgedSite(t, name, { '.gatehouse.yml': STRICT }, { fallback: policyOf(LAX) });
      const number = await site.open(TWO_FILES);
      t.is((await site.judge(number)).state, 'failure');
      const commit = site.forge.commit(site.repository, 'main', { 'README.md': 'x\n' });
      findsNothing(site, filesAt(name, commit), status, 1);
      t.is((await site.judge(number)).state, 'failure', 'one answer');
      const next = site.forge.commit(site.repository, 'main', { 'README.md': 'y\n' });
      findsNothing(site, filesAt(name, next), status);
      await t.throwsAsync(site.judge(number), { name: 'ForgeError' }, 'every answer');
    }
  });

  test(`${name}: one answer 404 for CODEOWNERS never counts as no owners`, async (t) => {
    const owners = name === 'github' ? '.github/CODEOWNERS' : '.gitea/CODEOWNERS';
    const site = await judgedSite(t, name, { '.gatehouse.yml': OWNED, [owners]: '* @carol\n' });
    const number = await site.open(TWO_FILES);
    const before = await site.judge(number);
    t.is(before.description, 'Waiting for 1 approval from the code owners of each changed file');
    const commit = site.forge.commit(site.repository, 'main', { 'README.md': 'x\n' });
    findsNothing(site, name === 'github' ? 'contents/.*CODEOWNERS' : `git/trees/(?!${commit}).*`, 404, 1);
    t.deepEqual((await site.judge(number)).description, before.description);
  });

  test(`${name}: the comment shows which files need which owners, until they have approved`, async (t) => {
    const pattern = name === 'github' ? '/src/' : 'src/.*';
    const owners = name === 'github' ? '/src/ @bob\n/docs/ @carol\n' : 'src/.* @bob\ndocs/.* @carol\n';
    const site = await judgedSite(t, name, { '.gatehouse.yml': OWNED, CODEOWNERS: owners });
    const number = await site.open({ 'src/a': 'a\n', 'src/b': 'b\n', 'docs/a': 'a\n', free: 'x\n' });
    const shown = async () => {
      const { state, said } = await site.judge(number);
      return [state, ...(said.match(/^\| `.*$/gm) ?? []).toSorted()];
    };
    const docs = '| `docs/a` | `carol` | | `carol` |';
    const files = `| \`${pattern}\` (2 files) | \`bob\` |`;
    t.deepEqual(await shown(), ['pending', ...[docs, `${files} | \`bob\` |`].toSorted()]);
    await site.review(number, 'bob', 'approved');
    t.deepEqual(await shown(), ['pending', ...[docs, `${files} \`bob\` | |`].toSorted()]);
    t.notRegex((await site.judge(number)).said, /(?<!`)@\w/, 'a mention would notify its reader');
    await site.review(number, 'carol', 'approved');
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: a policy that extends an unknown commit is an error that says so`, async (t) => {
    const extending = `version: 1\nextends: acme/common@${'1'.repeat(40)}\nrules: []\n`;
    const site = await judgedSite(t, name, { '.gatehouse.yml': extending });
    site.forge.createRepository('acme/common', { '.gatehouse.yml': STRICT });
    const { state, said } = await site.judge(await site.open(TWO_FILES));
    t.is(state, 'error');
    t.regex(said, /where no policy can be read/);
  });

  test(`${name}: a broken policy of a fork that cannot be read never passes`, async (t) => {
    const site = await judgedSite(t, name, { '.gatehouse.yml': LAX });
    const from = site.forge.fork(site.repository, 'mallory');
    site.forge.fault({ path: new RegExp(`^/repos/${from}/`), fault: { kind: 'status', status: 404 } });
    const number = await site.open({ '.gatehouse.yml': 'version: 1\nrules: none\n' }, { from });
    t.is((await site.judge(number)).state, 'failure');
  });
}

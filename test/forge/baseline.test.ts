import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import { onBothForges } from './forges.ts';
import { type Gatehouse, ownGatehouse } from './gatehouse.ts';
import { described } from './reading.ts';
import type { TestForge } from './test-forge.ts';

/** The organisation's baseline (POLICY_REPOSITORY), on a Gitea, simulated or real: what people see. */
const both = onBothForges(test);

const LOCKED = `version: 1
rules:
  - id: small
    locked: true
    message: Ask security.
    require: { changed_files: '<= 1' }
`;
const LENIENT = LOCKED.replace('<= 1', '<= 9');
const BROKEN = 'version: 2\nrules: []\n';
const OWN = `version: 1
override: { by: bob }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

interface Given {
  readonly gatehouse: Gatehouse;
  /** The policy repository's name, without its owner. */
  readonly name: string;
  readonly policies: Site;
  /** A repository with a pull request of two files. */
  readonly site: Site;
  readonly number: number;
  readonly sha: string;
  /** Waits until the comment on the pull request is like this, and returns it. */
  shown(what: RegExp): Promise<string>;
}

/** All repositories of a test forge have one owner, so each test has a policy repository of another name. */
async function withBaseline(t: ExecutionContext, forge: TestForge, baseline: string): Promise<Given> {
  const name = `policies-${randomBytes(6).toString('hex')}`;
  const gatehouse = await ownGatehouse(t, forge, { POLICY_REPOSITORY: name });
  const policies = await gatehouse.site({ '.gatehouse.yml': baseline });
  await policies.rename(name);
  const site = await gatehouse.site({ '.gatehouse.yml': OWN });
  const sha = await site.push('topic', TWO_FILES);
  const number = await site.open('topic');
  const shown = async (what: RegExp) => {
    let comment = '';
    await eventually(`the comment says ${what}`, async () => {
      comment = (await site.comments(number)).join();
      return what.test(comment);
    });
    return comment;
  };
  return { gatehouse, name, policies, site, number, sha, shown };
}

both('a baseline is broken, fixed, hidden, deleted, and replaced by another', async (t, forge) => {
  const { gatehouse, name, policies, site, number, sha, shown } = await withBaseline(t, forge, LOCKED);
  const becomes = (state: string) =>
    eventually(`the baseline is ${state}`, async () => (await gatehouse.baselines()) === state);

  await site.expect(t, sha, 'failure');
  await described(site, sha, '1 of 2 rules failed: small');
  const inForce = await shown(/`small`/);
  t.regex(inForce, /Ask security/);
  t.true(inForce.includes(`in \`${policies.repository}\``), inForce);
  t.regex(inForce, /2 changed files/);

  const breaking = await policies.push('breaking', { '.gatehouse.yml': BROKEN });
  const proposal = await policies.open('breaking');
  await policies.expect(t, breaking, 'failure');
  await described(policies, breaking, '.gatehouse.yml as proposed has 1 fault');
  t.regex((await policies.comments(proposal)).join(), /The policy as this pull request changes it has faults/);

  await policies.push('main', { '.gatehouse.yml': BROKEN });
  await becomes('broken');
  await site.edit(number, { title: 'things' });
  t.regex(await shown(/`titled`/), /2 changed files/, 'the last good one stays in force');
  await described(site, sha, '2 of 2 rules failed: small, titled');

  await policies.push('main', { '.gatehouse.yml': LOCKED.replace('security', 'the owners') });
  await becomes('in-force');
  await shown(/Ask the owners/);

  await policies.setPrivate(true);
  await gatehouse.resync(t);
  const hidden = await shown(/private in/);
  t.regex(hidden, /`small`/);
  t.regex(hidden, /Ask the owners/);
  t.notRegex(hidden, /changed file/);

  await policies.remove();
  await gatehouse.resync(t);
  await becomes('missing');
  await site.edit(number, { title: 'feat: things' });
  await described(site, sha, '1 of 2 rules failed: small');
  t.notRegex(await shown(/Ask the owners/), /changed file/, 'what was private stays so');

  const again = await gatehouse.site({ '.gatehouse.yml': LOCKED });
  await again.rename(name);
  await again.push('main', { '.gatehouse.yml': LENIENT });
  await becomes('replaced');
  await site.edit(number, { title: 'things' });
  await described(site, sha, '2 of 2 rules failed: small, titled');
  t.notRegex(await shown(/Ask the owners/), /changed file/, 'a repository of the same name is another one');
});

both('a locked rule is overridden only by those whom the baseline names', async (t, forge) => {
  const by = (person: string) => LOCKED.replace('rules:', `override: { by: ${person} }\nrules:`);
  const { policies, site, number, sha, shown } = await withBaseline(t, forge, by('mallory'));
  await site.expect(t, sha, 'failure');
  const command = `/gatehouse override small ${sha} hotfix 4711`;
  await site.comment(number, 'bob', command);
  await site.comment(number, 'mallory', command);
  const refused = await shown(/by `mallory` was written/);
  t.regex(refused, /of `small` by `bob` was not written by one of those who may override it: `mallory`\./);
  t.regex(refused, /of `small` by `mallory` was written by somebody who may not write to the repository\./);
  t.false((await site.states(sha)).includes('success'));
  await policies.push('main', { '.gatehouse.yml': by('bob') });
  await site.expect(t, sha, 'success');
  await described(site, sha, '1 rule overridden: hotfix 4711');
});

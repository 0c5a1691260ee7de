import type { ExecutionContext } from 'ava';
import type { Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { clientOf, onBothForges } from './forges.ts';
import type { TestForge } from './test-forge.ts';

/** What `gatehouse doctor` reads of a repository's settings, and who may. */
const both = onBothForges(test);

const PORT = 8_080;
const SECRET = 'a secret for tests, long enough';

const as = (t: ExecutionContext, forge: TestForge, token: string) => clientOf(t, { ...forge, token }).inspection;
const listsOf = async (t: ExecutionContext, forge: TestForge, token: string, site: Site) =>
  as(t, forge, token).hooks.lists(site.repository);

both('the owner of a repository is shown its webhooks, with all their events', async (t, forge) => {
  const site = await forge.site();
  await site.hook(PORT, SECRET);
  const [ofRepository, ofOwner, ofInstance] = await listsOf(t, forge, forge.ownerToken, site);
  const [hook, ...others] = ofRepository?.kind === 'listed' ? ofRepository.hooks : [];
  t.like(hook, { place: 'repository', active: 'yes', contentType: 'json', hasSecret: 'unknown' });
  t.regex(hook?.url ?? '', /^http:\/\/.*:8080\/webhook$/);
  t.is(others.length, 0);
  const { missingEvents } = as(t, forge, forge.ownerToken).hooks;
  t.deepEqual(missingEvents(hook?.events ?? [], ['checks', 'commands', 'requested-reviews']), []);
  t.deepEqual(ofInstance, { place: 'instance', kind: 'hidden' });
  t.deepEqual(ofOwner, { place: 'owner', kind: 'listed', hooks: [] }, 'a person sees her own');
});

both('somebody who may only write is shown no webhook, not even whether there is one', async (t, forge) => {
  const site = await forge.site();
  const hidden = (['repository', 'owner', 'instance'] as const).map((place) => ({ place, kind: 'hidden' as const }));
  t.deepEqual(await listsOf(t, forge, forge.token, site), hidden);
  await site.hook(PORT, SECRET);
  t.deepEqual(await listsOf(t, forge, forge.token, site), hidden);
  t.deepEqual(await listsOf(t, forge, forge.readingToken, site), hidden);
});

both('whoever can read a repository is shown which statuses a branch requires', async (t, forge) => {
  const site = await forge.site();
  await site.push('feature/one', { 'a.txt': 'one\n' });
  for (const token of [forge.token, forge.readingToken]) {
    const required = async (branch: string) =>
      (await as(t, forge, token).protection(site.repository, branch))?.required.map(({ context }) => context);
    t.deepEqual(await required('main'), token === forge.token ? [] : ['gatehouse/main']);
    t.deepEqual(await required('feature/one'), []);
    t.is(await required('no-such-branch'), undefined);
    if (token === forge.token) {
      await site.protect('main', 'gatehouse/main');
    }
    t.deepEqual(await required('main'), ['gatehouse/main']);
  }
  await site.stopRequiring('main');
  t.deepEqual((await as(t, forge, forge.token).protection(site.repository, 'main'))?.required, []);
});

both('a repository says whether one’s account may write to it', async (t, forge) => {
  const site = await forge.site();
  const inspect = async (token: string) => as(t, forge, token).repository(site.repository);
  t.like(await inspect(forge.token), {
    name: site.repository,
    defaultBranch: 'main',
    archived: false,
    mayWrite: 'yes',
  });
  t.like(await inspect(forge.readingToken), { mayWrite: 'no' });
  t.is(await as(t, forge, forge.token).repository('alice/nothing'), undefined);
});

both('the scopes that a token lacks are named, and those of docs/connect-gitea.md suffice', async (t, forge) => {
  const site = await forge.site();
  const lacking = ['write:repository', 'write:issue'];
  const missing = async (token: string, extras: readonly 'teams'[]) =>
    (await as(t, forge, token).grants(site.repository, extras)).missing;
  t.deepEqual(await missing(forge.token, ['teams']), []);
  t.deepEqual(await missing(forge.readingToken, []), lacking);
  t.deepEqual(await missing(forge.readingToken, ['teams']), [...lacking, 'read:organization']);
  const access = (token: string) => clientOf(t, { ...forge, token }).checkAccess();
  t.deepEqual(await access(forge.token), { kind: 'granted' });
  t.deepEqual(await access(forge.readingToken), { kind: 'missing-scope', scopes: lacking });
  t.is((await access('0'.repeat(40))).kind, 'not-accepted');
});

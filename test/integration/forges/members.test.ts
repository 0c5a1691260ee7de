import { makeForge } from '../../../src/forges/make-forge.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import test from '../../helpers/test.ts';
import { startSimulatedForge } from '../../simulated-forge/simulated-forge.ts';
import { judgedSite } from './judging.ts';
import { FORGES, SITE, setUp } from './setup.ts';

for (const name of FORGES) {
  test(`${name}: people are known to be members with a request for each`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    for (const login of ['gatehouse', 'alice', 'bob']) {
      simulated.addMember('platform', login);
    }
    await forge.self();
    simulated.forgetRequests();
    t.deepEqual(await forge.organisationMembers('platform', ['alice', 'bob']), {
      members: ['alice', 'bob'],
      complete: true,
    });
    t.is(simulated.seen.length, 2);
    t.deepEqual(await forge.organisationMembers('platform', []), { members: [], complete: true });
    t.is(simulated.seen.length, 2);
  });

  test(`${name}: who may not be asked about is no member for certain, and a failure is no answer`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    simulated.addMember('platform', 'gatehouse');
    simulated.addMember('platform', 'alice');
    simulated.fault({ path: /^\/orgs\//, fault: { kind: 'status', status: 403 } });
    t.deepEqual(await forge.organisationMembers('platform', ['alice']), { members: [], complete: false });
    simulated.clearFaults();
    simulated.fault({ path: /^\/orgs\//, fault: { kind: 'status', status: 502 } });
    await t.throwsAsync(forge.organisationMembers('platform', ['alice']), { message: /502/ });
  });

  test(`${name}: no login steps out of its place in a URL`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    simulated.addMember('platform', 'gatehouse');
    await forge.self();
    simulated.forgetRequests();
    const { members } = await forge.organisationMembers('platform', ['..', '.', '', 'a/b', 'x?y#z']);
    t.deepEqual(members, []);
    t.true(simulated.seen.every(({ route }) => /^\/orgs\/:org\/members(?:hips)?\/:username$/.test(route)));
  });
}

const rule = (body: string) => ({ '.gatehouse.yml': `version: 1\nrules: [{ id: it, ${body} }]\n` });
const REVIEWED = rule("require: { approvals: { from: '@acme/*' } }");
const STRANGERS = rule("when: { not: { author: '@acme/*' } }, require: { label: accepted }");
const SIGNED = rule("require: { commits: { every: { signed_by: ['@acme/*', '@acme/release'] } } }");
const ONE_FILE = { 'a.txt': 'a\n' };

for (const name of FORGES) {
  test(`${name}: a member who may be hidden never counts as a stranger, nor as a member`, async (t) => {
    const site = await judgedSite(t, name, STRANGERS);
    site.forge.addMember('acme', 'alice', 'hidden');
    const number = await site.open(ONE_FILE);
    const { state, said } = await site.judge(number);
    t.is(state, 'error');
    t.regex(said, /The author `alice`; the members of `acme\/\*` could not be read/);
    await site.label(number, 'accepted');
    t.is((await site.judge(number)).state, 'success', 'whoever the author is');

    await site.push('main', REVIEWED);
    await site.review(number, 'mallory', 'approved');
    t.is((await site.judge(number)).state, 'error');
    site.forge.addMember('acme', 'gatehouse');
    site.forge.addMember('acme', 'bob');
    t.is((await site.judge(number)).state, 'pending');
    await site.review(number, 'bob', 'approved');
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: no signature counts while its member may be hidden`, async (t) => {
    const site = await judgedSite(t, name, SIGNED);
    const signedBy = async (signer: string) => {
      site.forge.commit(site.repository, signer, { 'a.txt': `${signer}\n` }, { verified: true, signer });
      return (await site.judge(await site.open(signer))).state;
    };
    site.forge.addMember('acme', 'alice', 'hidden');
    t.is(await signedBy('alice'), 'error', 'a hidden member');
    site.forge.createTeam('acme/release', ['carol']);
    t.is(await signedBy('carol'), 'success', 'in the team, whatever the organisation hides');
    site.forge.addMember('acme', 'gatehouse');
    site.forge.addMember('acme', 'bob');
    t.is(await signedBy('bob'), 'success');
    t.is(await signedBy('dan'), 'failure');
  });
}

test('github: who is invited is no member yet', async (t) => {
  const { simulated, forge } = await setUp(t, 'github', {}, { checked: true });
  simulated.addMember('platform', 'gatehouse');
  simulated.addMember('platform', 'carol', 'invited');
  t.deepEqual(await forge.organisationMembers('platform', ['carol']), { members: [], complete: true });
});

test('github: an App sees hidden members with the permission Members alone', async (t) => {
  const simulated = await startSimulatedForge({ forge: 'github' });
  t.teardown(() => simulated.stop());
  simulated.createRepository(SITE);
  simulated.app.install('platform');
  simulated.addMember('platform', 'alice');
  const { id: appId, privateKey, permissions } = simulated.app;
  const among = async () => {
    // A token shows the permissions of when it was issued.
    const credentials = { kind: 'app', appId, privateKey } as const;
    const forge = makeForge({ forge: 'github', url: simulated.url, credentials }, { patience: PATIENCE });
    t.teardown(() => forge.close());
    return forge.organisationMembers('platform', ['alice', 'mallory']);
  };
  t.deepEqual(await among(), { members: ['alice'], complete: true });

  const { members: _, ...others } = permissions;
  simulated.app.permissions = others;
  t.deepEqual(await among(), { members: [], complete: false });
  // As for what may not be seen: 404, and not 403.
  simulated.fault({ path: /memberships/, fault: { kind: 'status', status: 404 } });
  t.deepEqual(await among(), { members: [], complete: false });
});

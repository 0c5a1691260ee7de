/**
 * `npm run bench:forge`: a real Gitea in a container, and Gatehouse beside it. How many requests a review makes, counted
 * in Gitea's own log, and how long it takes from what a person did to the status that says so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pullOf, statusOf } from '../test/forge/reading.ts';
import { realForge } from '../test/forge/real.ts';
import { HOOK_EVENTS, type Site } from '../test/forge/site.ts';
import { openDoor, SECRET } from '../test/helpers/door.ts';
import { startGitea } from '../test/helpers/gitea.ts';

const POLL_MS = 20;
const GIVE_UP_MS = 120_000;

const RULES = `version: 1
rules:
  - id: labelled
    require: { label: 'reviewed' }
  - id: titled
    require: { title: '^feat' }
  - id: approved
    require: { approvals: { count: 1 } }
  - id: clean
    forbid: { added_lines: 'debugger' }
`;

const { values } = parseArgs({
  options: { events: { type: 'string', default: '250' }, files: { type: 'string', default: '3000' } },
});

const own = await startGitea(true);
if (typeof own === 'string') {
  throw new Error(own);
}
const forge = realForge(own.gitea);
const environment = { FORGE: 'gitea', FORGE_URL: forge.url, FORGE_TOKEN: forge.token, HOST: forge.listenOn };
const door = await openDoor(environment, { door: true, worker: true });
try {
  process.stdout.write(`Gitea ${own.gitea.version}, webhooks of ${HOOK_EVENTS.join(', ')}\n\n`);
  await countRequests();
  await measure(Number(values.events));
} finally {
  await door[Symbol.asyncDispose]();
  await forge.close();
  await own.close();
}

async function hooked(policy: string): Promise<Site> {
  const site = await forge.site({ '.gatehouse.yml': policy });
  await site.hook(door.service.port, SECRET);
  return site;
}

async function countRequests(): Promise<void> {
  const many = Array.from({ length: Number(values.files) }, (_, index) => [`src/${index}.ts`, `${index}\n`]);
  const title = (index: number) => `  - id: rule-${index}\n    require: { title: '^feat' }\n`;
  const added = "  - id: lines\n    forbid: { added_lines: 'debugger' }\n";
  const approvals = '  - id: approved\n    require: { approvals: { count: 1 } }\n';
  const cases = {
    'one rule': [title(0), { 'a.ts': 'one\n' }],
    'twenty rules': [
      [...Array.from({ length: 18 }, (_, index) => title(index)), added, approvals].join(''),
      { 'a.ts': 'one\n' },
    ],
    'a comment at a line': [added, { 'a.ts': 'debugger\n' }],
    [`${many.length} files`]: [added, Object.fromEntries(many)],
  } as const;
  process.stdout.write('| Case | Requests of the first review |\n|---|---|\n');
  for (const [name, [rules, files]] of Object.entries(cases)) {
    const site = await hooked(`version: 1\nrules:\n${rules}`);
    const sha = await site.push('topic', files);
    await site.open('topic');
    await verdict(site, sha, () => true);
    await settled(site);
    const requests = await forge.requests(site);
    process.stdout.write(`| ${name} | ${requests.length}: ${tally(requests)} |\n`);
  }
}

/** By method and kind of resource: `GET files 2`. */
function tally(requests: readonly string[]): string {
  const kinds = requests.map((request) => {
    const [method, path = ''] = request.split(' ');
    const parts = (path.split('?')[0] ?? '').split('/').slice(6);
    return `${method} ${parts.filter((part) => !/^(?:\d+|[0-9a-f]{40})$/.test(part)).join('/')}`;
  });
  return [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${kind} ${all.length}`).join(', ');
}

async function settled(site: Site): Promise<void> {
  await poll(async () => {
    const { rowCount } = await door.database.query(
      "SELECT 1 FROM gatehouse_jobs.job WHERE data->>'repository' = $1 AND state IN ('created', 'retry', 'active')",
      [site.repository()],
    );
    return rowCount === 0;
  });
}

/** Which of the rules hold. */
interface Holds {
  labelled: boolean;
  titled: boolean;
  approved: boolean;
  clean: boolean;
}

async function measure(events: number): Promise<void> {
  const pushes: number[] = [];
  const others: number[] = [];
  const teams = 5;
  await Promise.all(
    Array.from({ length: teams }, async () => {
      const site = await hooked(RULES);
      let sha = await site.push('topic', { 'a.ts': 'one\n' });
      const number = await site.open('topic');
      const holds: Holds = { labelled: false, titled: true, approved: false, clean: true };
      await verdict(site, sha, (description) => says(description, holds));
      for (let event = 0; event < events / teams; event += 1) {
        const kind = (['labelled', 'titled', 'approved', 'clean', 'labelled'] as const)[event % 5] ?? 'labelled';
        holds[kind] = !holds[kind];
        if (kind === 'clean') {
          sha = await site.push('topic', { 'a.ts': `${holds.clean ? 'fine' : 'debugger'} ${event}\n` });
          // An approval is of a head.
          holds.approved = false;
        } else {
          await act(site, number, kind, holds[kind]);
        }
        const from = performance.now();
        // Every second event comes upon the review of the one before it.
        if (event % 2 === 1 || kind === 'clean') {
          await verdict(site, sha, (description) => says(description, holds));
          (kind === 'clean' ? pushes : others).push(performance.now() - from);
        }
      }
      await pullOf(forge, site, number);
    }),
  );
  process.stdout.write('\n| Events | Timed | p50 | p95 | worst |\n|---|---|---|---|---|\n');
  for (const [name, times] of Object.entries({ pushes, 'all others': others })) {
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number) =>
      `${Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)} ms`;
    process.stdout.write(`| ${name} | ${sorted.length} | ${at(0.5)} | ${at(0.95)} | ${at(1)} |\n`);
  }
}

async function act(site: Site, number: number, kind: 'labelled' | 'titled' | 'approved', to: boolean): Promise<void> {
  switch (kind) {
    case 'labelled':
      await (to ? site.label(number, 'reviewed') : site.unlabel(number, 'reviewed'));
      return;
    case 'titled':
      await site.edit(number, { title: to ? 'feat: as it should be' : 'As it comes' });
      return;
    case 'approved':
      await site.review(number, 'bob', to ? 'approved' : 'changes-requested');
  }
}

/** Whether a status names exactly those rules that do not hold. */
function says(description: string, holds: Holds): boolean {
  return Object.entries(holds).every(([id, held]) => description.includes(id) === !held);
}

async function verdict(site: Site, sha: string, expected: (description: string) => boolean): Promise<void> {
  await poll(async () => {
    const status = await statusOf(forge, site, sha);
    return status !== undefined && status.status !== 'pending' && expected(status.description);
  });
}

async function poll(condition: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > GIVE_UP_MS) {
      throw new Error(`waited ${GIVE_UP_MS} ms in vain`);
    }
    await sleep(POLL_MS);
  }
}

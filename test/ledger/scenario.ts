import { makeClone } from '../forge/git-push.ts';
import type { HookedSite } from '../forge/test-forge.ts';
import { type Gitea, inContainer, type Person, REPOSITORIES } from '../helpers/gitea-container.ts';
import { eventually } from '../helpers/until.ts';

const MAIN = 'main';
const RELEASE = 'release';
export const POLICY = `version: 1
rules:
  - id: title
    require: { title: '^feat: ' }
`;

/** What was done, in the words of the ledger. */
export interface Truth {
  readonly branch: string;
  /** Commits to the outcomes that are right. */
  readonly outcomes: Map<string, readonly string[]>;
  /** Of each force-push the commits that it took away, newest first. */
  readonly lost: (readonly string[])[];
}

export interface Scenario {
  readonly gitea: Gitea;
  readonly site: HookedSite;
  readonly random: () => number;
  /** Kills the worker and starts another one. */
  readonly killWorker: () => Promise<void>;
  readonly counts: Map<string, number>;
}

export interface Amounts {
  readonly merges: number;
  readonly bypasses: number;
  readonly pushes: number;
  readonly forcePushes: number;
}

/** Every action once at least, in the order that `random` draws. */
export async function playScenario(scenario: Scenario, amounts: Amounts): Promise<readonly Truth[]> {
  const { site, random } = scenario;
  const main: Truth = { branch: MAIN, outcomes: new Map(), lost: [] };
  const release: Truth = { branch: RELEASE, outcomes: new Map(), lost: [] };
  await request(scenario, 'alice', 'POST', '/branch_protections', {
    rule_name: MAIN,
    enable_push: true,
    enable_force_push: true,
    enable_status_check: true,
    status_check_contexts: [`gatehouse/${MAIN}`],
  });
  // What the repository began with.
  for (const sha of lines(await git(scenario, 'rev-list', '--first-parent', MAIN))) {
    main.outcomes.set(sha, ['direct']);
  }
  const actions = [
    ...Array.from({ length: amounts.merges }, () => () => merge(scenario, main, 'feat: it', 'bob', ['passed'])),
    ...Array.from({ length: amounts.bypasses }, () => () => merge(scenario, main, 'it', 'alice', ['bypassed'])),
    ...Array.from({ length: amounts.pushes }, () => () => push(scenario, main)),
    ...Array.from({ length: amounts.forcePushes }, () => () => forcePush(scenario, main)),
    () => remakeBranch(scenario, release),
    () => site.rename(`${site.repository.split('/')[1]}-renamed`),
  ];
  await merge(scenario, main, 'feat: first', 'bob', ['passed']);
  for (const act of shuffled(actions, random)) {
    if (random() < 0.05) {
      await scenario.killWorker();
    }
    await act();
  }
  return [main, release];
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

let files = 0;
function newFile(): Record<string, string> {
  files += 1;
  return { [`file-${files}.txt`]: `${files}\n` };
}

async function request<T>(
  { gitea, site }: Pick<Scenario, 'gitea' | 'site'>,
  person: Person,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${gitea.url}/api/v1/repos/${site.repository}${path}`, {
    method,
    headers: { authorization: `token ${gitea.tokens[person]}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export async function git(
  { gitea, site }: Pick<Scenario, 'gitea' | 'site'>,
  ...args: readonly string[]
): Promise<string> {
  const folder = `${REPOSITORIES}/${site.repository}.git`;
  return (await inContainer(gitea.container, ['git', '-C', folder, ...args])).trim();
}

const lines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

function count({ counts }: Scenario, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Does something to a branch, with the webhooks of it or without, and notes what came by it. */
async function change(
  scenario: Scenario,
  { branch, outcomes }: Truth,
  right: readonly string[],
  act: () => Promise<unknown>,
): Promise<'told' | 'lost'> {
  const { site, random } = scenario;
  const isLost = random() < 0.3;
  const before = await git(scenario, 'rev-parse', `refs/heads/${branch}`);
  if (isLost) {
    count(scenario, 'with its webhooks lost');
    await site.loseWebhooks(true);
  }
  await act();
  if (isLost) {
    await site.loseWebhooks(false);
  }
  const came = lines(await git(scenario, 'rev-list', '--first-parent', `${before}..refs/heads/${branch}`));
  for (const [index, sha] of came.entries()) {
    // Of the commits of a rebase Gitea names the pull request of the last one alone. The comparison allows this only
    // where no webhook came: Gitea sends none either if it is still queued when the webhooks end.
    outcomes.set(sha, index > 0 ? [...right, 'unknown'] : right);
  }
  return isLost ? 'lost' : 'told';
}

const METHODS = ['merge', 'squash', 'rebase', 'rebase-merge', 'fast-forward-only'] as const;

async function merge(
  scenario: Scenario,
  truth: Truth,
  title: string,
  by: Person,
  right: readonly string[],
): Promise<void> {
  const { site, random } = scenario;
  const topic = `topic-${files}`;
  const amount = 1 + Math.floor(random() * 3);
  await site.push(topic, ...Array.from({ length: amount }, newFile));
  const number = await site.open(topic, { title, base: truth.branch });
  const wanted = right.includes('passed') ? 'success' : 'failure';
  await eventually(`${site.repository}#${number} is ${wanted}`, async () => {
    const status = await site.status(number, `gatehouse/${truth.branch}`);
    return status?.state === wanted;
  });
  let how: string = METHODS[Math.floor(random() * METHODS.length)] ?? 'merge';
  if (random() < 0.3 && how !== 'fast-forward-only' && truth.branch === MAIN) {
    await push(scenario, truth);
  }
  await change(scenario, truth, right, async () => {
    await eventually(`${site.repository}#${number} is merged`, async () => {
      try {
        await request(scenario, by, 'POST', `/pulls/${number}/merge`, { Do: how, force_merge: by === 'alice' });
        return true;
      } catch (error) {
        const { message } = error as Error;
        if (message.includes('Please try again later')) {
          return false;
        }
        if (how === 'fast-forward-only') {
          how = 'merge';
          return false;
        }
        throw error;
      }
    });
  });
  count(scenario, `merged by ${how}`);
  count(scenario, right.includes('passed') ? 'merged when green' : 'merged past a red status by an administrator');
}

async function push(scenario: Scenario, truth: Truth): Promise<'told' | 'lost'> {
  count(scenario, 'pushed directly');
  return change(scenario, truth, ['direct'], () => scenario.site.push(truth.branch, newFile()));
}

async function forcePush(scenario: Scenario, truth: Truth): Promise<void> {
  const { gitea, site } = scenario;
  const first = await push(scenario, truth);
  const back = await git(scenario, 'rev-parse', `refs/heads/${truth.branch}~1`);
  const old = `back-${files}`;
  await request(scenario, 'alice', 'POST', '/branches', { new_branch_name: old, old_ref_name: back });
  const url = new URL(`${gitea.url}/${site.repository}.git`);
  url.username = 'alice';
  url.password = gitea.tokens.alice;
  const clone = await makeClone(url.href, 'alice');
  const gone = lines(await git(scenario, 'rev-list', '--first-parent', `${back}..refs/heads/${truth.branch}`));
  const second = await change(scenario, truth, ['direct'], () => clone.push(truth.branch, [newFile()], { onto: old }));
  await clone.remove();
  if (first === 'told' && second === 'told') {
    truth.lost.push(gone);
  } else {
    // What was pushed and taken away before a resync is nowhere to be seen.
    count(scenario, 'force-pushed without a webhook of it');
  }
  count(scenario, 'force-pushed');
}

/** A branch that a policy judges pull requests into is watched. */
async function remakeBranch(scenario: Scenario, truth: Truth): Promise<void> {
  const { site } = scenario;
  await site.push(truth.branch, newFile());
  await merge(scenario, truth, 'feat: release', 'bob', ['passed']);
  await merge(scenario, truth, 'not released', 'alice', ['bypassed']);
  const back = await git(scenario, 'rev-parse', `refs/heads/${truth.branch}~1`);
  const tip = await git(scenario, 'rev-parse', `refs/heads/${truth.branch}`);
  await site.deleteBranch(truth.branch);
  truth.lost.push(lines(await git(scenario, 'rev-list', '--first-parent', `${back}..${tip}`)));
  await request(scenario, 'alice', 'POST', '/branches', { new_branch_name: truth.branch, old_ref_name: back });
  await push(scenario, truth);
  count(scenario, 'branch deleted and made again');
}

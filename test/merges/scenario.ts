import type { HookedSite } from '../forge/test-forge.ts';
import type { Gitea, Person } from '../helpers/gitea-container.ts';
import { MAIN } from '../helpers/site.ts';
import { eventually } from '../helpers/until.ts';

const CONTEXT = `gatehouse/${MAIN}`;
export const POLICY = `version: 1
rules:
  - id: title
    require: { title: '^feat: ' }
`;
const METHODS = ['merge', 'squash', 'rebase', 'rebase-merge', 'fast-forward-only'];

/** How many of each there are in one repository. */
export interface Amounts {
  readonly merges: number;
  readonly bypasses: number;
  readonly autoMerges: number;
  readonly pushes: number;
}

export interface Scenario {
  readonly gitea: Gitea;
  readonly site: HookedSite;
  readonly random: () => number;
  /** Ends the worker and starts another one. */
  readonly restartWorker: () => Promise<void>;
  /** After each action. */
  readonly acted: () => void;
}

/** What people did: how pull requests were merged, and the commits that were pushed directly. */
export interface Truth {
  readonly pulls: Map<number, 'green' | 'red' | 'auto'>;
  readonly pushes: string[];
}

/** All actions in the order that `random` draws. Three of ten have their webhooks lost, and one of twenty ends the worker. */
export async function playScenario(scenario: Scenario, amounts: Amounts): Promise<Truth> {
  const { random } = scenario;
  // What the repository began with may be told, too.
  const truth: Truth = { pulls: new Map(), pushes: await commitsOf(scenario) };
  await request(scenario, 'alice', '/branch_protections', {
    rule_name: MAIN,
    enable_push: true,
    enable_status_check: true,
    status_check_contexts: [CONTEXT],
  });
  const actions = [
    ...repeat(amounts.merges, () => merge(scenario, truth, 'green')),
    ...repeat(amounts.bypasses, () => merge(scenario, truth, 'red')),
    ...repeat(amounts.autoMerges, () => mergeWhenGreen(scenario, truth)),
    ...repeat(amounts.pushes, () => push(scenario, truth)),
  ];
  for (const act of shuffled(actions, random)) {
    if (random() < 0.05) {
      await scenario.restartWorker();
    }
    await act();
    scenario.acted();
  }
  return truth;
}

const repeat = <T>(times: number, act: T): readonly T[] => Array.from({ length: times }, () => act);

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

async function request({ gitea, site }: Scenario, person: Person, path: string, body: object): Promise<void> {
  const response = await fetch(`${gitea.url}/api/v1/repos/${site.repository}${path}`, {
    method: path.startsWith('/pulls/') && !path.endsWith('/merge') ? 'PATCH' : 'POST',
    headers: { authorization: `token ${gitea.tokens[person]}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${path}: ${response.status} ${text}`);
  }
}

async function commitsOf({ gitea, site }: Scenario): Promise<string[]> {
  const headers = { authorization: `token ${gitea.tokens.alice}` };
  const response = await fetch(`${gitea.url}/api/v1/repos/${site.repository}/commits?sha=${MAIN}`, { headers });
  const commits = (await response.json()) as readonly { readonly sha: string }[];
  return commits.map(({ sha }) => sha);
}

let files = 0;
function newFile(): Record<string, string> {
  files += 1;
  return { [`file-${files}.txt`]: `${files}\n` };
}

/** Of one to three commits, once its status is there. */
async function openPull({ site, random }: Scenario, state: 'success' | 'failure'): Promise<number> {
  const topic = `topic-${files}`;
  const amount = 1 + Math.floor(random() * 3);
  await site.push(topic, ...Array.from({ length: amount }, newFile));
  const number = await site.open(topic, { title: state === 'success' ? 'feat: it' : 'it' });
  await eventually(
    `${site.repository}#${number} is ${state}`,
    async () => (await site.status(number, CONTEXT))?.state === state,
  );
  return number;
}

/** Does something, with its webhooks or without. */
async function maybeUntold({ site, random }: Scenario, act: () => Promise<void>): Promise<void> {
  const isLost = random() < 0.3;
  if (isLost) {
    await site.loseWebhooks(true);
  }
  await act();
  if (isLost) {
    await site.loseWebhooks(false);
  }
}

async function merge(scenario: Scenario, { pulls }: Truth, kind: 'green' | 'red'): Promise<void> {
  const { random } = scenario;
  const number = await openPull(scenario, kind === 'green' ? 'success' : 'failure');
  const method = METHODS[Math.floor(random() * METHODS.length)] ?? 'merge';
  await maybeUntold(scenario, () =>
    kind === 'green'
      ? askToMerge(scenario, 'bob', number, { Do: method })
      : askToMerge(scenario, 'alice', number, { Do: method, force_merge: true }),
  );
  pulls.set(number, kind);
}

interface Merging {
  readonly Do: string;
  readonly force_merge?: boolean;
  readonly merge_when_checks_succeed?: boolean;
}

/** Gitea looks for conflicts first, and takes a fast-forward only where nothing came to the base since. */
async function askToMerge(scenario: Scenario, person: Person, number: number, how: Merging) {
  let body = how;
  await eventually(`Gitea takes the merge of ${scenario.site.repository}#${number}`, async () => {
    try {
      await request(scenario, person, `/pulls/${number}/merge`, body);
      return true;
    } catch (error) {
      if (!String(error).includes('Please try again later')) {
        if (body.Do !== 'fast-forward-only') {
          throw error;
        }
        body = { ...body, Do: 'merge' };
      }
      return false;
    }
  });
}

/** Gitea merges it by itself as soon as its status is a success. */
async function mergeWhenGreen(scenario: Scenario, { pulls }: Truth): Promise<void> {
  const { site } = scenario;
  const number = await openPull(scenario, 'failure');
  await askToMerge(scenario, 'bob', number, { Do: 'merge', merge_when_checks_succeed: true });
  await request(scenario, 'bob', `/pulls/${number}`, { title: 'feat: it' });
  await eventually(`${site.repository}#${number} merges itself`, async () => (await site.state(number)) === 'merged');
  pulls.set(number, 'auto');
}

async function push(scenario: Scenario, { pushes }: Truth): Promise<void> {
  await maybeUntold(scenario, async () => {
    pushes.push(await scenario.site.push(MAIN, newFile()));
  });
}

import type { Site } from '../test/forge/site.ts';
import type { Changes } from '../test/simulated-forge/git.ts';
import { type ForgeSetting, holdsWithin, hookedSite } from './forge-setting.ts';

/** A review of 3,000 files on a busy machine takes half a minute. */
const REVIEW_MS = 300_000;

const title = (index: number) => `  - id: rule-${index}\n    require: { title: '^feat' }\n`;
const ADDED_LINES = "  - id: lines\n    forbid: { added_lines: 'debugger' }\n";
const APPROVALS = '  - id: approved\n    require: { approvals: { count: 1 } }\n';

/** The rules of the policy and the files of the pull request. */
function casesOf(files: number): Readonly<Record<string, readonly [rules: string, changes: Changes]>> {
  const eighteen = Array.from({ length: 18 }, (_, index) => title(index)).join('');
  const many = Array.from({ length: files }, (_, index) => [`src/${index}.ts`, `${index}\n`] as const);
  return {
    'one rule, met': [title(0), { 'a.ts': 'one\n' }],
    'twenty rules, one not met': [`${eighteen}${ADDED_LINES}${APPROVALS}`, { 'a.ts': 'one\n' }],
    'a comment at a line': [ADDED_LINES, { 'a.ts': 'debugger\n' }],
    [`${files} files`]: [ADDED_LINES, Object.fromEntries(many)],
  };
}

export interface CountedCase {
  readonly name: string;
  /** Each as `GET /api/v1/repos/…`, of the first review and of one more that finds nothing changed. */
  readonly first: readonly string[];
  readonly unchanged: readonly string[];
}

/** Counts the requests of Gatehouse in the log of the forge. */
export async function countRequests(setting: ForgeSetting, files: number): Promise<readonly CountedCase[]> {
  const counted: CountedCase[] = [];
  for (const [name, [rules, changes]] of Object.entries(casesOf(files))) {
    setting.say(`requests: ${name}`);
    counted.push({ name, ...(await countCase(setting, `version: 1\nrules:\n${rules}`, changes)) });
  }
  return counted;
}

async function countCase(setting: ForgeSetting, policy: string, changes: Changes) {
  const { forge } = setting;
  const site = await hookedSite(setting, policy);
  /** Lets something happen that the forge sends this event for, and returns what Gatehouse requested by the time it is idle. */
  const requestsOf = async (event: string, act: () => Promise<unknown>) => {
    const [requests, deliveries] = [await forge.requests(site), await deliveriesOf(setting, site, event)];
    await act();
    const done = async () => (await deliveriesOf(setting, site, event)) > deliveries && (await isIdle(setting, site));
    if (!(await holdsWithin(REVIEW_MS, done))) {
      throw new Error(`${site.repository()} was still not reviewed after ${REVIEW_MS} ms`);
    }
    return (await forge.requests(site)).slice(requests.length);
  };
  await requestsOf('push', () => site.push('topic', changes));
  let number = 0;
  const first = await requestsOf('pull_request', async () => {
    number = await site.open('topic');
  });
  if (!first.some((request) => /^POST \S+\/statuses\//.test(request))) {
    throw new Error(`${site.repository()} got no status: ${tally(first)}`);
  }
  return { first, unchanged: await requestsOf('pull_request', () => site.label(number, 'unrelated')) };
}

async function deliveriesOf({ door }: ForgeSetting, site: Site, event: string): Promise<number> {
  const { rowCount } = await door.database.query(
    'SELECT FROM gatehouse.deliveries WHERE repository = $1 AND event = $2',
    [site.repository(), event],
  );
  return rowCount ?? 0;
}

async function isIdle({ door }: ForgeSetting, site: Site): Promise<boolean> {
  const { rowCount } = await door.database.query(
    "SELECT FROM gatehouse_jobs.job WHERE data->>'repository' = $1 AND state IN ('created', 'retry', 'active')",
    [site.repository()],
  );
  return rowCount === 0;
}

export function renderRequests(cases: readonly CountedCase[]): string {
  const rows = cases.map(
    ({ name, first, unchanged }) =>
      `| ${name} | ${first.length}: ${tally(first)} | ${unchanged.length}: ${tally(unchanged)} |`,
  );
  return `${['| Case | The first review | One more, nothing changed |', '|---|---|---|', ...rows].join('\n')}\n\n`;
}

/** By method and kind of resource: `GET pulls/files 2`. */
function tally(requests: readonly string[]): string {
  const kinds = requests.map((request) => {
    const [method, path = ''] = request.split(' ');
    const parts = (path.split('?')[0] ?? '').split('/').slice(6);
    return `${method} ${parts.filter((part) => !/^(?:\d+|[0-9a-f]{40})$/.test(part)).join('/')}`;
  });
  return [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${kind} ${all.length}`).join(', ');
}

import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../test/forge/reading.ts';
import { type Received, startReceiver } from '../test/forge/receiver.ts';
import { HOOK_EVENTS, type Site } from '../test/forge/site.ts';
import { SECRET } from '../test/helpers/door.ts';
import { HOST_NAME } from '../test/helpers/gitea-container.ts';
import { type ForgeSetting, holdsWithin } from './forge-setting.ts';
import { percentile } from './stats.ts';

/**
 * One for each kind of event: each event makes its rule fail or pass, so that the status before is never the one after. None waits
 * for people, because a status names those only when no other rule fails.
 */
const RULES = ['labelled', 'titled', 'unapproved', 'clean'] as const;
const POLICY = `version: 1
rules:
  - id: labelled
    require: { label: 'reviewed' }
  - id: titled
    require: { title: '^feat' }
  - id: unapproved
    when: { approvals: { count: 1 } }
    require: { label: 'none has it' }
  - id: clean
    forbid: { added_lines: 'debugger' }
`;

type Rule = (typeof RULES)[number];
type Outcomes = Record<Rule, boolean>;

/** The event that comes shortly before every second one of each kind, and starts a review. Never of the same kind. */
const BEFORE: Readonly<Record<Rule, Rule>> = {
  labelled: 'titled',
  titled: 'unapproved',
  unapproved: 'labelled',
  clean: 'labelled',
};
/** So that an event meets every part of the review before it, which takes about as long. */
const MAX_HEAD_START_MS = 700;
/** Prime to it, so that head starts are spread evenly, and are the same in each run. */
const HEAD_START_STEP_MS = 137;

const STATUS_MS = 60_000;
const PROGRESS_EVENTS = 25;

export interface Plan {
  /** That are timed. */
  readonly events: number;
  /** On which they happen at the same time, each in its own repository. */
  readonly pullRequests: number;
  /** No event begins later. */
  readonly minutes: number;
}

export interface TimedEvent {
  readonly rule: Rule;
  readonly duringReview: boolean;
  /** From the webhook to the status; undefined when no status showed the event within a minute. */
  readonly ms: number | undefined;
}

export interface Latency {
  readonly events: readonly TimedEvent[];
  readonly loads: readonly [atBegin: number, atEnd: number];
}

/**
 * Both times are taken by a receiver of webhooks of its own, which the forge sends the same events to, right before Gatehouse, and
 * the statuses. So nothing is polled at the forge.
 */
export async function measureLatency(setting: ForgeSetting, plan: Plan): Promise<Latency> {
  const atBegin = loadavg()[0] ?? 0;
  const receiver = await startReceiver(setting.forge.listenOn);
  const events: TimedEvent[] = [];
  const end = performance.now() + plan.minutes * 60_000;
  try {
    await Promise.all(
      Array.from({ length: plan.pullRequests }, async (_, index) => {
        const pull = await openPull(setting, receiver);
        const share = Math.ceil((plan.events - index) / plan.pullRequests);
        for (let event = 0; event < share && performance.now() < end; event += 1) {
          events.push(await timeEvent(pull, event));
          if (events.length % PROGRESS_EVENTS === 0) {
            setting.say(`latency: ${events.length} of ${plan.events} events`);
          }
        }
      }),
    );
  } finally {
    receiver.close();
  }
  return { events, loads: [atBegin, loadavg()[0] ?? 0] };
}

/** An open pull request, and which of the rules its present state meets. */
interface Pull {
  readonly site: Site;
  readonly number: number;
  readonly outcomes: Outcomes;
  /** Its head. */
  sha: string;
  readonly received: readonly Received[];
}

async function openPull(setting: ForgeSetting, receiver: Awaited<ReturnType<typeof startReceiver>>): Promise<Pull> {
  const { forge, door, ownerToken } = setting;
  const site = await forge.site({ '.gatehouse.yml': POLICY });
  const answer = await call({ ...forge, token: ownerToken }, 'POST', `/repos/${site.repository()}/hooks`, {
    type: 'gitea',
    active: true,
    events: HOOK_EVENTS,
    config: { url: `http://${HOST_NAME}:${receiver.port}/`, content_type: 'json' },
  });
  if (answer.status !== 201) {
    throw new Error(`the webhook of the measurement: ${answer.status} ${await answer.text()}`);
  }
  await site.hook(door.service.port, SECRET);
  const sha = await site.push('topic', { 'a.ts': 'one\n' });
  const number = await site.open('topic');
  const outcomes: Outcomes = { labelled: false, titled: true, unapproved: true, clean: true };
  const pull = { site, number, outcomes, sha, received: receiver.received };
  if ((await firstStatus(pull, 0)) === undefined) {
    throw new Error(`${site.repository()} got no verdict within ${STATUS_MS} ms`);
  }
  return pull;
}

async function timeEvent(pull: Pull, event: number): Promise<TimedEvent> {
  const rule = RULES[event % RULES.length] ?? 'labelled';
  const duringReview = Math.floor(event / RULES.length) % 2 === 1;
  if (duringReview) {
    await flip(pull, BEFORE[rule], event);
    await sleep((event * HEAD_START_STEP_MS) % MAX_HEAD_START_MS);
  }
  const from = pull.received.length;
  await flip(pull, rule, event);
  const status = await firstStatus(pull, from);
  const webhook = pull.received.slice(from).find((one) => isOf(one, rule, pull));
  // The review before may have read the change before its webhook came.
  return { rule, duringReview, ms: status && Math.max(0, status.at - (webhook ?? status).at) };
}

async function flip(pull: Pull, rule: Rule, event: number): Promise<void> {
  const { site, number, outcomes } = pull;
  outcomes[rule] = !outcomes[rule];
  const to = outcomes[rule];
  switch (rule) {
    case 'labelled':
      await (to ? site.label(number, 'reviewed') : site.unlabel(number, 'reviewed'));
      return;
    case 'titled':
      await site.edit(number, { title: to ? 'feat: as it should be' : 'As it comes' });
      return;
    case 'unapproved':
      await site.review(number, 'bob', to ? 'changes-requested' : 'approved');
      return;
    case 'clean':
      pull.sha = await site.push('topic', { 'a.ts': `${to ? 'fine' : 'debugger'} ${event}\n` });
  }
}

/** The first of the webhooks received from this index on that says what the rules' outcomes are. */
async function firstStatus(pull: Pull, from: number): Promise<Received | undefined> {
  const find = () =>
    pull.received.slice(from).find(({ payload: { repository, sha, state, description = '' } }) => {
      const ours = repository.full_name === pull.site.repository() && sha === pull.sha && state !== 'pending';
      return ours && RULES.every((rule) => description.includes(rule) === !pull.outcomes[rule]);
    });
  await holdsWithin(STATUS_MS, () => find() !== undefined);
  return find();
}

function isOf({ payload, headers }: Received, rule: Rule, { site, sha }: Pull): boolean {
  if (payload.repository.full_name !== site.repository()) {
    return false;
  }
  switch (rule) {
    case 'labelled':
      return payload.action === 'label_updated' || payload.action === 'label_cleared';
    case 'titled':
      return payload.action === 'edited';
    case 'unapproved':
      return /^pull_request_(?:approved|rejected)$/.test(String(headers['x-gitea-event']));
    case 'clean':
      return payload.action === 'synchronized' && payload.pull_request?.head.sha === sha;
  }
}

export function renderLatency({ events, loads }: Latency): string {
  const groups = {
    pushes: events.filter(({ rule }) => rule === 'clean'),
    'others, alone': events.filter(({ rule, duringReview }) => rule !== 'clean' && !duringReview),
    'others, near a review': events.filter(({ rule, duringReview }) => rule !== 'clean' && duringReview),
    'others, all': events.filter(({ rule }) => rule !== 'clean'),
  };
  const rows = Object.entries(groups).map(([name, group]) => {
    const times = group.flatMap(({ ms }) => ms ?? []).toSorted((one, other) => one - other);
    const cells = [0.5, 0.95, 1].map((share) => `${percentile(times, share)} ms`);
    return `| ${[name, group.length, group.length - times.length, ...cells].join(' | ')} |`;
  });
  return [
    `Load average ${loads[0].toFixed(1)} at the beginning, ${loads[1].toFixed(1)} at the end.\n`,
    '| Events | Timed | No status in 60 s | p50 | p95 | worst |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

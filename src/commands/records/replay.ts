import type pg from 'pg';
import { shorten } from '../../common/shorten.ts';
import { openReplay } from '../../composition/replay.ts';
import { parseReplayConfig } from '../../config/config.ts';
import { interpretEvent } from '../../forges/interpret-event.ts';
import { type ReviewRequest, requestedReview } from '../../forges/port/review-requests.ts';
import type { StoredDelivery } from '../../inbox/delivery.ts';
import { findDeliveries } from '../../inbox/read-deliveries.ts';
import { visible } from '../../review/text.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { readBodyOf, withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import type { Terminal } from '../terminal.ts';

export const replay = defineCommand({
  name: 'replay',
  usage: ['<delivery id…>', '--dead-letters [owner/name | owner/name#7 …]'],
  text: `Requeues the review that a stored delivery requested. A review reads the pull request's current state, so replaying is
always safe: an unneeded review changes nothing.`,
  options: {
    'dead-letters': {
      type: 'boolean',
      default: false,
      help: 'requeue the reviews that failed in their last attempt: all of them, or those of the repositories and pull requests that you name',
    },
  },
  positionals: { most: Number.POSITIVE_INFINITY, expected: 'delivery ids or --dead-letters' },
  settings: 'DATABASE_URL, and REDIS_URL to notify the workers; otherwise they find the jobs within seconds.',
  exitCodes: {
    0: 'each review was queued or was already in the queue, or the delivery requests no review',
    1: 'failed, or nothing was found for one of the names',
    ...UNUSABLE_DATABASE,
  },
  async run({ values, positionals }, terminal) {
    const { 'dead-letters': revives } = values;
    if (!revives && positionals.length === 0) {
      throw new UsageError('expected delivery ids or --dead-letters');
    }
    const named = revives ? positionals.map(readName) : [];
    const { databaseUrl, redisUrl } = configured(parseReplayConfig(terminal.env));
    return withDatabase(databaseUrl, async (pool) => {
      const queue = openReplay(pool, redisUrl);
      try {
        const { queued, failed } = revives
          ? await reviveLetters(queue, named, terminal)
          : await replayDeliveries(pool, queue, positionals, terminal);
        if (queued && !(await queue.wakeWorkers())) {
          terminal.stderr.write('Cannot notify the workers over Redis; they will find the jobs at their next poll.\n');
        }
        return failed ? 1 : 0;
      } finally {
        await queue.stop();
      }
    });
  },
});

type ReplayQueue = ReturnType<typeof openReplay>;

const SAID = {
  queued: 'put back in the queue',
  waiting: 'is already in the queue',
  gone: 'already queued by another command',
} as const;

interface Done {
  /** Whether there is something new for the workers. */
  readonly queued: boolean;
  readonly failed: boolean;
}

async function replayDeliveries(
  pool: pg.Pool,
  queue: ReplayQueue,
  ids: readonly string[],
  { stdout, stderr }: Terminal,
): Promise<Done> {
  let queued = false;
  let failed = false;
  // Two hooks may have sent one id.
  const found = await Promise.all([...new Set(ids)].map(async (id) => ({ id, all: await findDeliveries(pool, id) })));
  for (const { id } of found.filter(({ all }) => all.length === 0)) {
    stderr.write(`${visible(id)}: no delivery has this id\n`);
    failed = true;
  }
  for (const { id, delivery } of found.flatMap(({ id, all }) => all.map((delivery) => ({ id, delivery })))) {
    const read = await requestOf(pool, delivery);
    if ('problem' in read) {
      stderr.write(`${visible(id)}: ${read.problem}\n`);
      failed = true;
      continue;
    }
    const { request } = read;
    if (request === undefined) {
      stdout.write(`${id}: requests no review (${visible(read.event)})\n`);
      continue;
    }
    const requeued = await queue.requeue(request);
    queued ||= requeued === 'queued';
    stdout.write(`${id}: ${nameOf(request)} ${SAID[requeued]}\n`);
  }
  return { queued, failed };
}

/** As the door read it when it came, or as a newer version of the door would. */
async function requestOf(
  pool: pg.Pool,
  delivery: StoredDelivery,
): Promise<{ readonly event: string; readonly request: ReviewRequest | undefined } | { readonly problem: string }> {
  const read = await readBodyOf(pool, delivery);
  if ('problem' in read) {
    return read;
  }
  const { event } = delivery;
  const payload: unknown = JSON.parse(new TextDecoder().decode(read.body));
  const subject = interpretEvent(event, Object.assign({}, payload));
  // Whose status it is does not matter when an operator asks.
  const request = requestedReview(subject, () => false);
  return { event, request: request && { ...request, origin: { delivery: delivery.deliveryId } } };
}

function nameOf(request: ReviewRequest): string {
  switch (request.kind) {
    case 'review':
    case 'turn':
      return `the review of ${request.repository}#${request.number}`;
    case 'review-repository':
      return `the review of all pull requests into ${request.branch} of ${request.repository}`;
    case 'push':
      return `the push to ${request.branch} of ${request.repository}`;
    case 'default-push':
      return `the look at the push to ${request.branch} of ${request.repository}`;
    case 'review-commit':
      return `the reviews at ${request.headSha} of ${request.repository} that ask for checks`;
    case 'command':
      return `the command in comment ${request.commentId} of ${request.repository}#${request.number}`;
    case 'review-merge-group':
      return `the review of the merge group ${request.headSha} into ${request.branch} of ${request.repository}`;
  }
}

interface Name {
  readonly text: string;
  readonly fits: (request: ReviewRequest) => boolean;
}

function readName(text: string): Name {
  const [, repository, digits] = /^([\w.-]+\/[\w.-]+)(?:#(\d{1,10}))?$/.exec(text) ?? [];
  if (repository === undefined) {
    throw new UsageError(`"${text}" must be owner/name or owner/name#7`);
  }
  return {
    text,
    fits: (request) =>
      request.repository.toLowerCase() === repository.toLowerCase() &&
      (digits === undefined || (request.kind === 'review' && request.number === Number(digits))),
  };
}

const MAX_REASON_SHOWN = 300;

async function reviveLetters(queue: ReplayQueue, names: readonly Name[], { stdout, stderr }: Terminal): Promise<Done> {
  const letters = await queue.deadLetters();
  const unknown = names.filter(({ fits }) => !letters.some(({ request }) => fits(request)));
  for (const { text } of unknown) {
    stderr.write(`${text}: none of its reviews was given up\n`);
  }
  const chosen =
    names.length === 0 ? letters : letters.filter(({ request }) => names.some(({ fits }) => fits(request)));
  if (names.length === 0 && letters.length === 0) {
    stdout.write('No review was given up.\n');
  }
  let queued = false;
  for (const letter of chosen) {
    const requeued = await queue.revive(letter.request);
    queued ||= requeued === 'queued';
    const because = letter.reason === null ? '' : `: ${visible(shorten(letter.reason, MAX_REASON_SHOWN))}`;
    const name =
      letter.request.kind === 'review'
        ? `${letter.request.repository}#${letter.request.number}`
        : nameOf(letter.request);
    stdout.write(`${name}: ${SAID[requeued]} (given up ${letter.givenUpAt.toISOString()}${because})\n`);
  }
  return { queued, failed: unknown.length > 0 };
}

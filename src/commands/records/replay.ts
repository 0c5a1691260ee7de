import { parseArgs } from 'node:util';
import type pg from 'pg';
import { shorten } from '../../common/shorten.ts';
import { openReplay } from '../../composition/replay.ts';
import { parseReplayConfig } from '../../config/config.ts';
import { interpretEvent, type ReviewRequest, requestedReview } from '../../forges/port/events.ts';
import type { StoredDelivery } from '../../inbox/delivery.ts';
import { visible } from '../../review/text.ts';
import { findOneDelivery, readBodyOf, withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import type { Terminal } from '../terminal.ts';

const HELP = `Usage: gatehouse replay <delivery id…>
       gatehouse replay --dead-letters [owner/name | owner/name#7 …]

Queues again the review that a stored delivery requested. A review reads the current state of the pull request,
so replaying is always safe: a review that was not needed changes nothing.

Options:
  --dead-letters    queue the reviews again that failed in their last attempt: all of them, or those of the
                    repositories and pull requests that are named
  --hook <hook id>  which deliveries are meant, where two hooks sent the same delivery id
  --help            print this

Settings: DATABASE_URL; with REDIS_URL the workers are notified, else they find the jobs within seconds.
Exit codes: 0 each was put in the queue, was there already, or asks for no review; 1 failed, or there is nothing under
a name that was given; 64 wrong usage; 78 wrong configuration, or a database schema that does not fit.
`;

type ReplayQueue = ReturnType<typeof openReplay>;

const SAID = {
  queued: 'put back in the queue',
  waiting: 'is already in the queue',
  gone: 'already queued by another command',
} as const;

export async function replay(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'dead-letters': { type: 'boolean', default: false },
      hook: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return 0;
  }
  const { hook, 'dead-letters': revives } = values;
  if (revives && hook !== undefined) {
    throw new UsageError('--hook needs delivery ids');
  }
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
        : await replayDeliveries(pool, queue, positionals, hook, terminal);
      if (queued && !(await queue.wakeWorkers())) {
        terminal.stderr.write('The workers could not be notified over Redis; they find the jobs at their next poll.\n');
      }
      return failed ? 1 : 0;
    } finally {
      await queue.stop();
    }
  });
}

interface Done {
  /** Whether there is something new for the workers. */
  readonly queued: boolean;
  readonly failed: boolean;
}

async function replayDeliveries(
  pool: pg.Pool,
  queue: ReplayQueue,
  ids: readonly string[],
  hook: string | undefined,
  { stdout, stderr }: Terminal,
): Promise<Done> {
  let queued = false;
  let failed = false;
  for (const id of new Set(ids)) {
    const found = await findOneDelivery(pool, id, hook);
    const read = 'problem' in found ? found : await requestOf(pool, found.delivery);
    if ('problem' in read) {
      stderr.write(`${visible(id)}: ${read.problem}\n`);
      failed = true;
      continue;
    }
    const { request } = read;
    if (request === undefined) {
      stdout.write(`${id}: asks for no review (${visible(read.event)})\n`);
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
  return { event, request: requestedReview(subject, () => false) };
}

function nameOf(request: ReviewRequest): string {
  switch (request.kind) {
    case 'review':
      return `the review of ${request.repository}#${request.number}`;
    case 'review-repository':
      return `the review of all pull requests into ${request.branch} of ${request.repository}`;
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
    throw new UsageError(`"${text}" is neither owner/name nor owner/name#7`);
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
    stderr.write(`${text}: no review of it was given up\n`);
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

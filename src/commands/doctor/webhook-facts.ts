import type pg from 'pg';
import { onConnection } from '../../db/transaction.ts';
import type { Purpose } from '../../facts/purposes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { FORGES } from '../../forges/port/forges.ts';
import type { Hook, HookAnswer } from '../../forges/port/inspection.ts';
import type { Finding } from './finding.ts';
import { gatehouseHooks, judgeAnswers, judgeHooks, type WebhookFacts } from './webhook.ts';

export interface WebhookOptions {
  readonly forge: Forge;
  readonly repository: string;
  readonly extras: readonly Purpose[];
  readonly webhookUrl: string | undefined;
  /** Undefined where the database cannot be read. */
  readonly database: Promise<pg.Pool | undefined>;
  readonly retentionDays: number | undefined;
}

export async function checkWebhook(options: WebhookOptions): Promise<readonly Finding[]> {
  const { forge, repository, extras, webhookUrl } = options;
  const { hooks: reader } = forge.inspection;
  const database = await options.database;
  const facts: WebhookFacts = {
    repository,
    forge: FORGES[forge.name].title,
    lists: await reader.lists(repository),
    expectedUrl: webhookUrl,
    missingEvents: (events) => reader.missingEvents(events, extras),
    lastStored: database && (await lastStored(database, repository)),
  };
  const settings = judgeHooks(facts);
  // Several are rare: that of the organisation beside that of a repository. One that is not active sends nothing.
  const hooks = gatehouseHooks(facts);
  const hook = hooks.find(({ active }) => active !== false) ?? hooks[0];
  if (hook === undefined) {
    return settings;
  }
  const answers = await answersOf(forge, repository, hook);
  const stored = database && typeof answers !== 'string' ? await storedAmong(database, answers) : undefined;
  const since = Date.now() - (options.retentionDays ?? 0) * DAY_MS;
  const isStored = ({ deliveryId, at }: HookAnswer) =>
    stored === undefined || Date.parse(at) < since ? undefined : stored.has(deliveryId);
  return [...settings, ...judgeAnswers(facts, answers, isStored)];
}

const DAY_MS = 24 * 60 * 60 * 1_000;

async function answersOf(
  forge: Forge,
  repository: string,
  hook: Hook,
): Promise<readonly HookAnswer[] | 'not-offered' | 'not-allowed'> {
  const { hooks: reader } = forge.inspection;
  return reader.answers === undefined ? 'not-offered' : ((await reader.answers(repository, hook)) ?? 'not-allowed');
}

const QUERY_LIMIT_MS = 4_000;

/** When the newest webhook of a repository was received. */
async function lastStored(pool: pg.Pool, repository: string): Promise<Date | undefined> {
  return onConnection(pool, QUERY_LIMIT_MS, async (client) => {
    const { rows } = await client.query<{ at: Date }>(
      `SELECT received_at AS at FROM gatehouse.deliveries WHERE lower(repository) = lower($1)
        ORDER BY received_at DESC LIMIT 1`,
      [repository],
    );
    return rows[0]?.at;
  });
}

/** Which of these deliveries were received, by any webhook: not every list names the hook's id. */
async function storedAmong(pool: pg.Pool, answers: readonly HookAnswer[]): Promise<ReadonlySet<string>> {
  return onConnection(pool, QUERY_LIMIT_MS, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'SELECT delivery_id AS id FROM gatehouse.deliveries WHERE delivery_id = ANY ($1)',
      [answers.map(({ deliveryId }) => deliveryId)],
    );
    return new Set(rows.map(({ id }) => id));
  });
}

import { readFile, writeFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type Stores, startStores } from '../test/helpers/stores.ts';
import { KILL_CONTENDERS, type KillContender, REDIS_ARGUMENTS, type RedisSetting } from './kill-contenders.ts';
import { renderKillSection, withKillSection } from './kill-report.ts';
import { type KillPlan, type KillResult, killRound } from './kill-round.ts';
import { describeMachine, load } from './machine.ts';
import type { Say } from './plan.ts';

const FULL: KillPlan = { rounds: 3, perSecond: 60, secondsBefore: 12, secondsAfter: 3 };
/** Shows that it works. The handlers of 12 s are acknowledged after 9. */
const QUICK: KillPlan = { rounds: 1, perSecond: 60, secondsBefore: 10, secondsAfter: 2 };
const PAGE = new URL('../docs/performance.md', import.meta.url);

/** `npm run bench -- --kill`: writes its section of docs/performance.md; with `--quick` it is short, and prints the section instead. */
export async function benchKill(quick: boolean, say: Say): Promise<void> {
  const plan = quick ? QUICK : FULL;
  const before = load();
  const rows: { contender: KillContender; results: KillResult[] }[] = [];
  let description = '';
  let leftOut = '';
  for (const setting of Object.keys(REDIS_ARGUMENTS) as RedisSetting[]) {
    const stores = await startStores({ redisArguments: REDIS_ARGUMENTS[setting] });
    try {
      description ||= await describeStores(stores);
      for (const contender of KILL_CONTENDERS.filter(({ redis }) => redis === setting)) {
        if (stores.kind === 'embedded' && contender.server === 'bullmq' && contender.killed.length > 0) {
          leftOut = 'BullMQ with Redis killed was left out: the embedded Valkey keeps nothing.';
          continue;
        }
        const results: KillResult[] = [];
        for (let round = 0; round < plan.rounds; round++) {
          const result = await killRound(contender, stores, plan);
          results.push(result);
          say(`${contender.title}; killed: ${contender.killedText}: ${JSON.stringify(result)}`);
        }
        rows.push({ contender, results });
      }
    } finally {
      await stores.close();
    }
  }
  const inOrder = KILL_CONTENDERS.flatMap((contender) => rows.filter((row) => row.contender === contender));
  const section = renderKillSection(
    {
      command: `npm run bench -- --kill${quick ? ' --quick' : ''}`,
      machine: describeMachine(),
      loads: [before, load()],
      stores: description,
      rows: inOrder,
      leftOut,
    },
    plan,
  );
  if (quick) {
    process.stdout.write(section);
  } else {
    await writeFile(PAGE, withKillSection(await readFile(PAGE, 'utf8'), section));
  }
}

/** As they name themselves. */
async function describeStores({ kind, database, redis }: Stores): Promise<string> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ version: string }>("SELECT current_setting('server_version') AS version");
  await client.end();
  const connection = new Redis(redis.url);
  const info = await connection.info('server');
  await connection.quit();
  const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(info) ?? [];
  const postgres = rows[0]?.version.split(' ')[0];
  return kind === 'containers'
    ? `PostgreSQL ${postgres} and Redis ${version} in containers`
    : `embedded PostgreSQL ${postgres} and Valkey`;
}

import { readFile, writeFile } from 'node:fs/promises';
import { startStores } from '../test/helpers/stores.ts';
import { KILL_CONTENDERS, type KillContender, REDIS_ARGUMENTS, type RedisSetting } from './kill-contenders.ts';
import { renderKillSection, withKillSection } from './kill-report.ts';
import { type KillPlan, type KillResult, killRound } from './kill-round.ts';
import { describeMachine, loadAverage, say } from './plan.ts';

const FULL: KillPlan = { rounds: 3, perSecond: 60, secondsBefore: 12, secondsAfter: 3 };
/** Shows that it works. The handlers of 12 s are acknowledged after 9. */
const QUICK: KillPlan = { rounds: 1, perSecond: 60, secondsBefore: 10, secondsAfter: 2 };
const PAGE = new URL('../docs/performance.md', import.meta.url);

/** `npm run bench -- --kill`: writes its section of docs/performance.md; with `--quick` it is short, and prints the section instead. */
export async function benchKill(quick: boolean): Promise<void> {
  const plan = quick ? QUICK : FULL;
  const before = loadAverage();
  const rows: { contender: KillContender; results: KillResult[] }[] = [];
  let description = '';
  let leftOut = '';
  for (const setting of Object.keys(REDIS_ARGUMENTS) as RedisSetting[]) {
    const stores = await startStores({ redisArguments: REDIS_ARGUMENTS[setting] });
    try {
      description ||= stores.description;
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
      loads: [before, loadAverage()],
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

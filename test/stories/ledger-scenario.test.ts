import test from 'ava';
import { DOOR, WORKER } from '../helpers/door.ts';
import { EVERY_FORGE, tellStory, workerComesBy } from '../helpers/story.ts';
import { compare } from '../ledger/compare.ts';
import { POLICY, playScenario, randomOf } from '../ledger/scenario.ts';
import { simulatedGround } from '../ledger/simulated-ground.ts';

/** `LEDGER_SEED=7 npm test -- test/stories/ledger-scenario.test.ts` draws others. */
const FIRST_SEED = Number(process.env['LEDGER_SEED'] ?? 1);
const SEEDS = [0, 1].map((more) => FIRST_SEED + more);
const AMOUNTS = { merges: 4, bypasses: 2, pushes: 1, forcePushes: 2 };

for (const name of EVERY_FORGE) {
  test(`${name}: the ledger equals the branch, whatever webhooks are lost`, async (t) => {
    await using story = await tellStory(name, {}, {}, DOOR);
    let worker = await story.openDoor({}, WORKER);
    let restarting = Promise.resolve();
    const restartWorker = () => {
      restarting = restarting.then(async () => {
        await worker[Symbol.asyncDispose]();
        worker = await story.openDoor({}, WORKER);
      });
      return restarting;
    };
    const play = async (seed: number) => {
      const site = story.scene({ '.gatehouse.yml': POLICY });
      const ground = simulatedGround(site);
      const names = [site.repository];
      const truths = await playScenario({ ground, random: randomOf(seed), restartWorker, counts: new Map() }, AMOUNTS);
      return { seed, ground, truths, names: [...names, site.repository] };
    };
    const played = await Promise.all(SEEDS.map(play));
    await restarting;
    await worker[Symbol.asyncDispose]();
    // As an hour and a day later.
    const { database } = story.door;
    await database.query('UPDATE gatehouse.repositories SET due = true, ledger_due = true');
    await database.query("UPDATE gatehouse.ledger_chains SET looked_at = looked_at - interval '2 days'");
    await workerComesBy(
      story,
      {},
      played.flatMap(({ names }) => names),
    );
    for (const { seed, ground, truths } of played) {
      for (const truth of truths) {
        const { missing, wrong, commits } = await compare(ground, database, truth);
        t.deepEqual({ missing, wrong }, { missing: [], wrong: [] }, `${truth.branch}, seed ${seed}`);
        t.true(commits > 0);
      }
    }
  });
}

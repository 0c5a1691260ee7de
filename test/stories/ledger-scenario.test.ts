import test from 'ava';
import { DOOR, WORKER } from '../helpers/door.ts';
import { sized } from '../helpers/size.ts';
import { EVERY_FORGE, tellStory, workerComesBy } from '../helpers/story.ts';
import { compare } from '../ledger/compare.ts';
import { POLICY, playScenario } from '../ledger/scenario.ts';
import { simulatedGround } from '../ledger/simulated-ground.ts';
import { randomOf, SEED } from '../simulated-forge/api/seed.ts';

const SEEDS = Array.from({ length: sized(1, 5) }, (_, more) => SEED + more);
const AMOUNTS = { merges: 4, bypasses: 2, pushes: 1, forcePushes: 2 };

for (const [name, seed] of EVERY_FORGE.flatMap((forge) => SEEDS.map((one) => [forge, one] as const))) {
  test(`${name}: the ledger equals the branch, whatever webhooks are lost: seed ${seed}`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY }, {}, DOOR);
    const { database } = story.door;
    const ground = simulatedGround(story);
    const names = [story.repository];
    let worker = await story.openDoor({}, WORKER);
    const truths = await playScenario(
      {
        ground,
        random: randomOf(seed),
        counts: new Map(),
        async restartWorker() {
          await worker[Symbol.asyncDispose]();
          const started = new Date();
          worker = await story.openDoor({}, WORKER);
          await story.resynced(started);
        },
      },
      AMOUNTS,
    );
    await worker[Symbol.asyncDispose]();
    // As an hour and a day later.
    await database.query('UPDATE gatehouse.repositories SET due = true, ledger_due = true');
    await database.query("UPDATE gatehouse.ledger_chains SET looked_at = looked_at - interval '2 days'");
    await workerComesBy(story, {}, [...names, story.repository]);
    for (const truth of truths) {
      const { missing, wrong, commits } = await compare(ground, database, truth);
      t.deepEqual({ missing, wrong }, { missing: [], wrong: [] }, truth.branch);
      t.true(commits > 0);
    }
  });
}

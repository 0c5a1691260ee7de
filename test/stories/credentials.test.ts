import { pino } from 'pino';
import type { Log } from '../../src/log.ts';
import { DOOR, WORKER } from '../helpers/door.ts';
import { forgesOf, REPOSITORY, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const FORGES = forgesOf(import.meta.url);

const FILES = {
  '.gatehouse.yml': `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
`,
};
/** A rule for which the lines are read. */
const NO_DEBUGGER = `  - id: no-debugger
    forbid: { added_lines: debugger }
`;
const CHANGE = { 'app.ts': 'one\n' };

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly problem?: string;
  readonly err?: unknown;
}

function capture(): { readonly log: Log; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  return { log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }), lines };
}

/** What the metrics page says of each problem. */
async function problemsOn(metricsUrl: string): Promise<readonly string[]> {
  const page = await (await fetch(metricsUrl)).text();
  return [...page.matchAll(/^gatehouse_forge_access_problem\{problem="(.*)"\} 1$/gm)].map(
    ([, problem = '']) => problem,
  );
}

for (const name of FORGES) {
  test(`${name}: reviews wait while the token is not accepted, without dead letters`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { database } = story.door;
    for (const scene of [story, story.scene(FILES)]) {
      await scene.open(CHANGE, { title: 'things' });
    }
    const { log, lines } = capture();
    {
      await using worker = await story.openDoor({ FORGE_TOKEN: 'revoked' }, WORKER, { log });
      await eventually('both reviews wait', async () => {
        const { rowCount } = await database.query(
          "SELECT FROM gatehouse_jobs.job WHERE name = 'review' AND state = 'created' AND start_after > now()",
        );
        return rowCount === 2;
      });
      await eventually('the resync was skipped', () => lines.some(({ msg }) => msg.includes('resync')));
      await eventually('the worker is ready', async () => (await fetch(`${worker.url}/health/ready`)).ok);
      t.deepEqual(await problemsOn(worker.metricsUrl), ['not-accepted']);
    }
    t.deepEqual(
      lines.flatMap(({ problem }) => problem ?? []),
      ['not-accepted'],
    );
    t.is(lines.filter(({ msg }) => msg.includes('resync')).length, 1);
    t.deepEqual(
      lines.filter(({ err }) => err !== undefined),
      [],
      'no stack trace',
    );
    t.is((await database.query('SELECT FROM gatehouse_jobs.job WHERE retry_count > 0')).rowCount, 0);

    await database.query("UPDATE gatehouse_jobs.job SET start_after = now() WHERE state = 'created'");
    await using worker = await story.openDoor({}, WORKER);
    t.is(await story.verdict(1), 'failure');
    t.deepEqual(await story.deadLetters(), []);
    t.deepEqual(await problemsOn(worker.metricsUrl), []);
  });

  test(`${name}: a refused review is not retried, and the next resync tries again`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': `${FILES['.gatehouse.yml']}${NO_DEBUGGER}` });
    const { forge } = story;
    const path = new RegExp(`^/repos/${REPOSITORY}/pulls/1(?:/files|\\.diff)$`);
    forge.fault({ path, fault: { kind: 'status', status: 403 } });
    const number = await story.settled(story.open(CHANGE, { title: 'things' }));
    t.deepEqual(story.status(number), {
      state: 'error',
      description: 'Could not be reviewed: Gatehouse’s credentials have no permission',
    });
    t.is(forge.seen.filter((seen) => path.test(seen.path)).length, 1);
    t.deepEqual(await story.deadLetters(), []);

    forge.clearFaults();
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
  });
}

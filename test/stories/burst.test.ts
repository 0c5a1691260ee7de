import { WORKER } from '../helpers/door.ts';
import { TWO_RULES } from '../helpers/policies.ts';
import { sized } from '../helpers/size.ts';
import { forgesOf, REPOSITORY, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

/** As many as the design promises, in the nightly run. */
const PULL_REQUESTS = sized(20, 1_000);
/** An author's pull requests are judged at most 300 times an hour: these, up to three times each. */
const OF_ONE_AUTHOR = 50;
/** Concurrent webhooks of a busy forge. */
const AT_ONCE = 25;

const FILES = {
  '.gatehouse.yml': TWO_RULES,
};

for (const name of FORGES) {
  test.serial(`${name}: ${PULL_REQUESTS} pull requests at once are each reviewed once a head`, async (t) => {
    await using story = await tellStory(name, FILES, { WORKER_CONCURRENCY: '8' });
    const { forge, door } = story;
    // GitHub's 5,000 requests an hour are for some 500 reviews.
    forge.rateLimit.remaining = 100 * PULL_REQUESTS;
    await using _second = await story.openDoor({ WORKER_CONCURRENCY: '8' }, WORKER);
    await door.database.query('CREATE TABLE doubles (key text)');
    await door.database.query(
      `CREATE FUNCTION note_double() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO doubles SELECT NEW.singleton_key FROM gatehouse_jobs.job
          WHERE name = NEW.name AND state = 'active' AND singleton_key = NEW.singleton_key AND id <> NEW.id;
         RETURN NULL;
       END $$`,
    );
    await door.database.query(
      `CREATE TRIGGER note_double AFTER INSERT OR UPDATE ON gatehouse_jobs.job
       FOR EACH ROW WHEN (NEW.state = 'active' AND NEW.name = 'review') EXECUTE FUNCTION note_double()`,
    );

    const numbers = Array.from({ length: PULL_REQUESTS }, (_, index) =>
      story.openSilently(
        { [`src/${index}.ts`]: 'debugger\n' },
        { title: `change ${index}`, author: `dev-${Math.floor(index / OF_ONE_AUTHOR)}` },
      ),
    );
    const webhooks = numbers.flatMap((number) =>
      (['opened', 'labeled', 'edited'] as const).map((action) => ({ kind: 'pull-request', number, action }) as const),
    );
    while (webhooks.length > 0) {
      await Promise.all(webhooks.splice(0, AT_ONCE).map((event) => story.tell(event)));
    }
    await story.settled();

    for (const number of numbers) {
      t.deepEqual(story.states(number), ['failure'], `#${number}`);
      t.is(story.comments(number).length, 1, `#${number}`);
      t.is(story.inlines(number).length, 1, `#${number}`);
    }
    t.is(story.writes(), 3 * PULL_REQUESTS);
    const { rows: doubles } = await door.database.query('SELECT key FROM doubles');
    t.deepEqual(doubles, []);
    const { rows: unwell } = await door.database.query(
      "SELECT name, state FROM gatehouse_jobs.job WHERE retry_count > 0 OR state = 'failed'",
    );
    t.deepEqual(unwell, []);
    t.is(forge.statuses(REPOSITORY).length, PULL_REQUESTS);
  });
}

import { makeLog } from '../../src/log.ts';
import { DOOR, openDoor } from '../helpers/door.ts';
import { tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

type Line = Readonly<Record<string, unknown>>;

function gatherLog() {
  const lines: Line[] = [];
  return { lines, log: makeLog('debug', { write: (line) => lines.push(JSON.parse(line)) }) };
}

const POLICY = "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n";

test('one search for a delivery finds its acknowledgement and its review', async (t) => {
  const { lines, log } = gatherLog();
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY }, {}, { door: true, worker: true }, { log });
  const number = story.openSilently({ 'a.txt': 'a' }, { title: 'feat: a' });
  // The end of a job is told when it is over.
  const toldOf = async (delivery: string) => {
    const about = () => lines.filter((line) => line['delivery'] === delivery);
    await until(() => about().some(({ msg }) => msg === 'a pull request was reviewed'));
    return about().map(({ msg, repository, pullRequest }) => ({ msg, repository, pullRequest }));
  };
  await story.settled(story.tell({ kind: 'pull-request', number, action: 'opened' }, 'of-the-opening'));
  t.deepEqual(
    await toldOf('of-the-opening'),
    ['a delivery was acknowledged', 'a pull request was reviewed'].map((msg) => ({
      ...{ msg, repository: story.repository, pullRequest: number },
    })),
  );
  t.false(lines.some((line) => 'number' in line));

  const comment = story.forge.comment(story.repository, number, 'alice', '/gatehouse recheck');
  await story.settled(story.tell({ kind: 'comment', number, comment, action: 'created' }, 'of-the-comment'));
  const said = (await toldOf('of-the-comment')).map(({ msg }) => msg);
  t.true(said.includes('a pull request is judged again, as a comment asks'), said.join());
});

test('a delivery that is refused is logged with its id', async (t) => {
  const { lines, log } = gatherLog();
  await using door = await openDoor({ DATABASE_URL: 'postgres://user:password@127.0.0.1:9/gatehouse' }, DOOR, { log });
  const body = JSON.stringify({
    action: 'opened',
    number: 7,
    pull_request: { number: 7 },
    repository: { full_name: 'acme/widgets' },
  });
  const refused = await door.post(body, { 'x-forge-event': 'pull_request', 'x-forge-delivery': 'lost-one' });
  t.is(refused.status, 503);
  t.like(
    lines.find(({ msg }) => msg === 'a webhook was refused'),
    { delivery: 'lost-one', event: 'pull_request', repository: 'acme/widgets', pullRequest: 7, status: 503 },
  );
  await door.post(body, { 'x-forge-delivery': 'unsigned', 'x-hub-signature-256': undefined });
  t.like(
    lines.findLast(({ msg }) => msg === 'a webhook was refused'),
    { delivery: 'unsigned', status: 401 },
  );
});

import { gatehouse } from '../test/helpers/process.ts';
import { type BenchDatabase, onDatabase } from './databases.ts';
import type { Compared } from './growth-figures.ts';
import { RECORDED } from './growth-record.ts';
import { say } from './plan.ts';
import { spread } from './stats.ts';

const MAX_COMMAND_MS = 1_000;
const RUNS = 3;

/** Each command that reads deliveries or the record, beside the start of its process. */
export async function measureCommands({ url }: BenchDatabase): Promise<readonly Compared[]> {
  const { id, repository } = await someDelivery(url);
  const commands: readonly (readonly [string, ...string[]])[] = [
    ['deliveries'],
    ['deliveries', '--since', '7d'],
    ['deliveries', '--event', 'pull_request'],
    ['deliveries', '--event', 'none_has_this'],
    ['deliveries', '--repository', repository],
    ['deliveries', '--repository', 'acme/none-has-this'],
    ['deliveries', '--repository', repository, '--pull-request', '2147483647'],
    ['deliveries', '--limit', '10000', '--json'],
    ['deliveries', '--body', id],
    ['audit', `https://git.example.com/${RECORDED}/pulls/1`],
    ['audit', 'https://git.example.com/acme/none-has-this/pulls/1'],
    ['audit', '--since', '7d', '--json'],
    ['audit', '--since', '400d', '--repository', RECORDED, '--json'],
    ['report'],
    ['report', '--since', '400d'],
    ['replay', id],
    ['replay', 'none-has-this-id'],
    ['replay', '--dead-letters'],
  ];
  const compared: Compared[] = [];
  for (const command of commands) {
    const ms = (await medianMs(url, command)) - (await medianMs(url, [command[0], '--help']));
    const what = `\`gatehouse ${command.join(' ').replace(id, '<id>')}\``;
    const after = `${ms.toFixed(0)} ms`;
    say(`${what}: ${after} beside its start`);
    compared.push({
      what,
      before: '',
      after,
      target: { wanted: `< ${MAX_COMMAND_MS} ms`, met: ms < MAX_COMMAND_MS },
    });
  }
  return compared;
}

/** The id of one that the door has stored, with others: only its body is what its SHA-256 says. And a repository that was filled in. */
function someDelivery(url: string): Promise<{ readonly id: string; readonly repository: string }> {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query<{ id: string; repository: string }>(
      `SELECT (SELECT delivery_id FROM gatehouse.deliveries WHERE frame_id IS NOT NULL
                ORDER BY received_at DESC LIMIT 1) AS id,
              (SELECT repository FROM gatehouse.deliveries
                WHERE event = 'pull_request' AND repository LIKE 'acme/repository-%' LIMIT 1) AS repository`,
    );
    return rows[0] ?? { id: '', repository: '' };
  });
}

async function medianMs(url: string, command: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const begin = performance.now();
    await gatehouse(command, { DATABASE_URL: url }).ended();
    times.push(performance.now() - begin);
  }
  return spread(times).median;
}

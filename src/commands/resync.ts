import { openReplay } from '../composition/replay.ts';
import { parseReplayConfig } from '../config/config.ts';
import { defineCommand, UNUSABLE_DATABASE } from './command.ts';
import { withDatabase } from './database.ts';
import { configured, UsageError } from './failures.ts';

const NAME = /^[\w.-]+\/[\w.-]+$/;
const MAX_NAME_CHARACTERS = 256;

export const resync = defineCommand({
  name: 'resync',
  usage: ['[owner/repository …]'],
  text: `Queues a resync of all repositories in the database, or of those that you name. It finds open pull requests without a
verdict, or that changed since their verdict, and changed rules. Where you name repositories, all their open pull
requests are reviewed. After you lose the database, name every repository.`,
  options: {},
  positionals: { most: Number.POSITIVE_INFINITY, expected: 'repositories, each as owner/repository' },
  settings: 'DATABASE_URL, and REDIS_URL to notify the workers; otherwise they find the job within seconds.',
  exitCodes: { 0: 'the resync is queued', 1: 'failed', ...UNUSABLE_DATABASE },
  async run({ positionals: names }, terminal) {
    if (!names.every((name) => NAME.test(name) && name.length <= MAX_NAME_CHARACTERS)) {
      throw new UsageError('expected repositories, each as owner/repository');
    }
    const { databaseUrl, redisUrl } = configured(parseReplayConfig(terminal.env));
    await withDatabase(databaseUrl, async (pool) => {
      const queue = openReplay(pool, redisUrl);
      try {
        const found = await queue.requestResync(names);
        terminal.stdout.write(`Queued a resync of ${found} ${found === 1 ? 'repository' : 'repositories'}.\n`);
        if (!(await queue.wakeWorkers())) {
          terminal.stderr.write('Cannot notify the workers over Redis; they will find the job at their next poll.\n');
        }
      } finally {
        await queue.stop();
      }
    });
    return 0;
  },
});

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
  text: `Queues a resync of repositories: of all in the database, or of those named, in the database or not. It finds open
pull requests without a verdict, those that have changed since theirs, and changed rules. After a loss of the
database, name every repository.`,
  options: {},
  positionals: { most: Number.POSITIVE_INFINITY, expected: 'repositories, each as owner/repository' },
  settings: 'DATABASE_URL; with REDIS_URL the workers are notified, otherwise they find the job within seconds.',
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
        terminal.stdout.write(`A resync of ${found} ${found === 1 ? 'repository' : 'repositories'} is queued.\n`);
        if (!(await queue.wakeWorkers())) {
          terminal.stderr.write(
            'The workers could not be notified over Redis; they will find the job at their next poll.\n',
          );
        }
      } finally {
        await queue.stop();
      }
    });
    return 0;
  },
});

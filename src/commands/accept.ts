import { openReplay } from '../composition/replay.ts';
import { parseReplayConfig } from '../config/config.ts';
import { forgetMeant } from '../jobs/tables/extended-repositories.ts';
import { defineCommand, UNUSABLE_DATABASE } from './command.ts';
import { withDatabase } from './database.ts';
import { configured, UsageError } from './failures.ts';

const NAME = /^[\w.-]+\/[\w.-]+$/;

export const accept = defineCommand({
  name: 'accept',
  usage: ['<owner/repository>'],
  text: `Accepts the repository that has this name now, as an extended policy or as a policy repository, where another one
had it before. First check who made it and what its policy says. Then queues a resync of all repositories.`,
  options: {},
  positionals: { least: 1, most: 1, expected: 'a repository, as owner/repository' },
  settings: 'DATABASE_URL; with REDIS_URL the workers are notified, otherwise they find the job within seconds.',
  exitCodes: { 0: 'accepted', 1: 'no repository of this name was known, or failed', ...UNUSABLE_DATABASE },
  async run({ positionals: [name = ''] }, terminal) {
    if (!NAME.test(name)) {
      throw new UsageError('expected a repository, as owner/repository');
    }
    const { databaseUrl, redisUrl } = configured(parseReplayConfig(terminal.env));
    return withDatabase(databaseUrl, async (pool) => {
      if (!(await forgetMeant(pool, name))) {
        terminal.stderr.write(`No policy of ${name} was used before, so there is nothing to accept.\n`);
        return 1;
      }
      const queue = openReplay(pool, redisUrl);
      try {
        await queue.requestResync([]);
        await queue.wakeWorkers();
      } finally {
        await queue.stop();
      }
      terminal.stdout.write(`Accepted: the next review takes the repository that has the name ${name} then.\n`);
      return 0;
    });
  },
});

/**
 * `npm run bench:forge`: a real Gitea in a container, and Gatehouse beside it. Counts the requests of a review in Gitea's
 * own log, and measures the time from an event's webhook to the status that shows its effect.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { realForge } from '../test/forge/real.ts';
import { openDoor } from '../test/helpers/door.ts';
import { startGitea } from '../test/helpers/gitea.ts';
import { measureLatency, renderLatency } from './forge-latency.ts';
import { countRequests, renderRequests } from './forge-requests.ts';

const { values } = parseArgs({
  options: {
    /** 0 leaves the measurement out. */
    events: { type: 'string', default: '250' },
    'pull-requests': { type: 'string', default: '2' },
    minutes: { type: 'string', default: '20' },
    /** Of the largest case; 0 leaves the count out. */
    files: { type: 'string', default: '3000' },
  },
});
const began = performance.now();
const say = (text: string) => {
  const seconds = ((performance.now() - began) / 1_000).toFixed(0).padStart(5);
  process.stderr.write(`${seconds} s  load ${loadavg()[0]?.toFixed(1)}  ${text}\n`);
};

const own = await startGitea(true);
if (typeof own === 'string') {
  throw new Error(`no real Gitea, because ${own}`);
}
const forge = realForge(own.gitea);
const environment = {
  FORGE: 'gitea',
  FORGE_URL: forge.url,
  FORGE_TOKEN: forge.token,
  HOST: forge.listenOn,
  // As installed.
  PENDING_AFTER_SECONDS: '1',
};
const door = await openDoor(environment, { door: true, worker: true });
const setting = { forge, door, ownerToken: own.gitea.tokens.alice, say };
try {
  say(`Gitea ${own.gitea.version}`);
  if (Number(values.files) > 0) {
    process.stdout.write(renderRequests(await countRequests(setting, Number(values.files))));
  }
  if (Number(values.events) > 0) {
    const plan = {
      events: Number(values.events),
      pullRequests: Number(values['pull-requests']),
      minutes: Number(values.minutes),
    };
    process.stdout.write(renderLatency(await measureLatency(setting, plan)));
  }
} finally {
  await door[Symbol.asyncDispose]();
  await forge.close();
  await own.close();
}

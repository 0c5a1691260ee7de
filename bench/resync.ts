/**
 * `npm run bench:resync`: counts the requests of an hour of resyncs, on simulated forges. Nothing changes meanwhile, and the rounds are
 * run one after the other, without waiting for the next. Prints a table, and exits with 1 when a review was requested.
 */
import { parseArgs } from 'node:util';
import { countHour, type Requests, type Setting } from './resync-rounds.ts';

const { values } = parseArgs({
  options: {
    owners: { type: 'string', default: '100' },
    /** Of each owner. */
    repositories: { type: 'string', default: '100' },
    'open-in': { type: 'string', default: '10' },
    minutes: { type: 'string', default: '15' },
    /** Whether to count looks at each repository by itself, too. */
    'one-by-one': { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const CASES = [
  { title: 'GitHub, App', name: 'github', app: true },
  { title: 'GitHub, token, a webhook for each repository', name: 'github', app: false },
  { title: 'Gitea', name: 'gitea', app: false },
  { title: 'Forgejo', name: 'forgejo', app: false },
] as const;
const ways = values['one-by-one'] ? [false, true] : [false];

const began = performance.now();
let reviews = 0;
const rows: string[] = [];
for (const { title, ...forge } of CASES) {
  for (const oneByOne of ways) {
    const setting: Setting = {
      ...forge,
      oneByOne,
      owners: Number(values.owners),
      repositories: Number(values.repositories),
      openIn: Number(values['open-in']),
      minutes: Number(values.minutes),
    };
    const { first, hour, reviewsRequested } = await countHour(setting);
    reviews += reviewsRequested;
    rows.push(
      `| ${title} | ${oneByOne ? 'each by itself' : 'by lists'} | ${sum(first)} | ${sum(hour)} | ${list(hour)} |`,
    );
    process.stderr.write(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${rows.at(-1)}\n`);
  }
}
process.stdout.write(
  `${values.owners} owners with ${values.repositories} repositories each, one in ${values['open-in']} with an open pull request, ` +
    `RESYNC_MINUTES=${values.minutes}; reviews requested: ${reviews}\n\n` +
    '| Forge | Repositories are looked at | Requests of the first round | Requests an hour | Of these |\n|---|---|--:|--:|---|\n' +
    `${rows.join('\n')}\n`,
);
process.exit(reviews === 0 ? 0 : 1);

function sum(requests: Requests): string {
  return requests.reduce((total, [, count]) => total + count, 0).toLocaleString('en');
}

function list(requests: Requests): string {
  return requests.map(([route, count]) => `${count.toLocaleString('en')} \`${route}\``).join(', ');
}

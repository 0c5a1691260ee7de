import { readHeads, readLedger } from '../../audit/ledger/read-ledger.ts';
import { parseLedgerConfig } from '../../config/config.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { parseTime, TIME_HELP } from '../options.ts';
import { columns, shortTime } from '../terminal.ts';
import { ledgerPage } from './ledger-page.ts';
import { ledgerCsv, ledgerTable } from './ledger-text.ts';
import { readCopies, verifyLedger } from './ledger-verify.ts';

const DEFAULT_SINCE = '90d';

export const ledger = defineCommand({
  name: 'ledger',
  usage: ['<owner/name> [options]', '--organisation <owner> [options]', '--verify [options]', '--heads'],
  text: `Prints what came to the watched branches of a repository, oldest first: by which pull request, with which verdict, and
who merged or pushed it. Watched are the default branch, and branches that a policy judges pull requests into. What is
not proven is unknown, never passed.`,
  options: {
    since: { type: 'string', default: DEFAULT_SINCE, value: 'when', help: `${TIME_HELP}; ${DEFAULT_SINCE} by default` },
    organisation: { type: 'string', value: 'owner', help: 'all repositories of this owner' },
    json: { type: 'boolean', default: false, help: 'print one JSON object a line with everything that is recorded' },
    csv: { type: 'boolean', default: false, help: 'print comma-separated values, with a line of names' },
    html: { type: 'boolean', default: false, help: 'print one HTML file without scripts: counts first, then bypasses' },
    verify: {
      type: 'boolean',
      default: false,
      help: 'look for the first entry of each chain that was changed, removed or inserted',
    },
    heads: { type: 'boolean', default: false, help: 'print where each chain ends: keep a copy outside the database' },
    against: { type: 'string', value: 'file', help: 'with --verify: copies that --heads --json printed' },
    restored: {
      type: 'boolean',
      default: false,
      help: 'with --against, after you have restored the database and before workers start: record in each chain that ends before its copy what is lost',
    },
  },
  positionals: { most: 1, expected: 'at most one repository, owner/name' },
  settings: 'DATABASE_URL; --verify also AUDIT_DAYS: what is younger may not be gone.',
  exitCodes: {
    0: 'done, also if nothing was found',
    1: 'failed, or --verify found an entry that was changed, removed or inserted',
    2: '--verify found nothing of that, but copies of entries that were lost in a restore of the database',
    ...UNUSABLE_DATABASE,
  },
  async run({ values, positionals: [repository] }, terminal) {
    const { organisation, verify, heads, json, csv, html, against, restored } = values;
    if ([json, csv, html, verify].filter(Boolean).length > 1 || (heads && (csv || html || verify))) {
      throw new UsageError('only one of --json, --csv, --html and --verify can be used, and --heads only with --json');
    }
    if (repository !== undefined && organisation !== undefined) {
      throw new UsageError('a repository or --organisation, not both');
    }
    if (repository === undefined && organisation === undefined && !verify && !heads) {
      throw new UsageError('expected a repository, owner/name, or --organisation');
    }
    if (against !== undefined && !verify) {
      throw new UsageError('--against needs --verify');
    }
    if (restored && against === undefined) {
      throw new UsageError('--restored needs --against');
    }
    const filter = { repository, organisation };
    const since = parseTime('--since', values.since, Date.now());
    const { databaseUrl, auditDays } = configured(parseLedgerConfig(terminal.env));
    const copies = against === undefined ? undefined : await readCopies(terminal.folder, against);
    return withDatabase(databaseUrl, async (pool) => {
      if (verify) {
        const retention = { days: auditDays, now: new Date() };
        return verifyLedger(pool, { filter, copies, retention, restored }, terminal);
      }
      if (heads) {
        const found = await readHeads(pool, filter);
        const table = () => [
          ['REPOSITORY', 'CHAIN', 'ENTRIES', 'LAST', 'HASH'],
          ...found.map(({ repository: name, chain, position, hash, recordedAt }) => [
            name,
            chain,
            String(position),
            recordedAt === null ? '' : shortTime(recordedAt),
            hash,
          ]),
        ];
        terminal.stdout.write(json ? lines(found) : columns(table()));
        return 0;
      }
      const entries = await readLedger(pool, filter, since);
      const subject = repository ?? `${organisation}/*`;
      const print = {
        json: lines,
        csv: ledgerCsv,
        html: () => ledgerPage(entries, { subject, since, at: new Date() }),
      };
      const form = json ? 'json' : csv ? 'csv' : html ? 'html' : undefined;
      terminal.stdout.write(form === undefined ? ledgerTable(entries) : print[form](entries));
      if (entries.length === 0) {
        terminal.stderr.write('Nothing is in the ledger.\n');
      }
      return 0;
    });
  },
});

function lines(entries: readonly object[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

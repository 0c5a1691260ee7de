import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import {
  chainsWithoutHead,
  type LedgerFilter,
  readChain,
  readHeads,
  readLedger,
} from '../../audit/ledger/read-ledger.ts';
import { verifyChain } from '../../audit/ledger/verify.ts';
import { parseDatabaseConfig } from '../../config/config.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { withDatabase } from '../database.ts';
import { configured, reasonOf, UsageError } from '../failures.ts';
import { parseTime, TIME_HELP } from '../options.ts';
import { columns, type Terminal } from '../terminal.ts';
import { ledgerPage } from './ledger-page.ts';
import { ledgerCsv, ledgerTable } from './ledger-text.ts';

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
    against: { type: 'string', value: 'file', help: 'with --verify: a copy that --heads --json printed' },
  },
  positionals: { most: 1, expected: 'at most one repository, owner/name' },
  settings: 'DATABASE_URL',
  exitCodes: {
    0: 'done, also if nothing was found',
    1: 'failed, or --verify found an entry that was changed, removed or inserted',
    ...UNUSABLE_DATABASE,
  },
  async run({ values, positionals: [repository] }, terminal) {
    const { organisation, verify, heads, json, csv, html, against } = values;
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
    const filter = { repository, organisation };
    const since = parseTime('--since', values.since, Date.now());
    const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));
    const copies = against === undefined ? [] : await readCopy(terminal.folder, against);
    return withDatabase(databaseUrl, async (pool) => {
      if (verify) {
        return verifyAll(pool, filter, copies, terminal);
      }
      if (heads) {
        const found = await readHeads(pool, filter);
        const table = () => [
          ['REPOSITORY', 'CHAIN', 'ENTRIES', 'HASH'],
          ...found.map(({ repository: name, chain, position, hash }) => [name, chain, String(position), hash]),
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

const copiedHead = z.object({
  chain: z.string(),
  repository: z.string(),
  position: z.number().int(),
  hash: z.string(),
});
type CopiedHead = z.output<typeof copiedHead>;

async function readCopy(folder: string, path: string): Promise<readonly CopiedHead[]> {
  try {
    const text = await readFile(resolve(folder, path), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => copiedHead.parse(JSON.parse(line)));
  } catch (error) {
    throw new UsageError(`--against: cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** One chain after the other: they may be long. */
async function verifyAll(
  pool: pg.Pool,
  filter: LedgerFilter,
  copied: readonly CopiedHead[],
  { stdout }: Terminal,
): Promise<0 | 1> {
  const isAll = filter.repository === undefined && filter.organisation === undefined;
  const heads = await readHeads(pool, filter);
  const named = new Map(heads.map((head) => [head.chain, head.repository]));
  for (const { chain, repository } of isAll ? copied : []) {
    named.set(chain, named.get(chain) ?? repository);
  }
  for (const chain of isAll ? await chainsWithoutHead(pool) : []) {
    named.set(chain, named.get(chain) ?? 'no repository');
  }
  let faults = 0;
  for (const [chain, repository] of named) {
    const head = heads.find((one) => one.chain === chain);
    const copies = copied.filter((copy) => copy.chain === chain);
    const fault = verifyChain(await readChain(pool, chain), head, copies);
    const found = fault === undefined ? 'complete' : `entry ${fault.position} was ${fault.problem}`;
    stdout.write(columns([[repository, `chain ${chain}`, `${head?.position ?? 0} entries`, found]]));
    faults += fault === undefined ? 0 : 1;
  }
  return faults > 0 ? 1 : 0;
}

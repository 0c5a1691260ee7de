import { connectForge } from '../../composition/forge.ts';
import { readPolicyFile } from '../../composition/policy-file.ts';
import { makePool } from '../../db/pool.ts';
import { makeLog } from '../../log.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import { reasonOf } from '../failures.ts';
import type { DoctorConfig } from './configuration.ts';
import { CREDENTIAL_CHECKS, checkCredentials } from './credentials.ts';
import { bounded, type Finding, skipped, wrong } from './finding.ts';
import type { PolicyOptions } from './policy.ts';
import { examineRepository, REPOSITORY_CHECKS, type RepositoryOptions } from './repository.ts';
import { checkDatabase, checkRedis, DATABASE_CHECKS } from './stores.ts';

type Findings = Promise<readonly Finding[]>;

/** What is asked of the doctor. */
export interface Question extends Pick<RepositoryOptions, 'webhookUrl'> {
  readonly repository: string | undefined;
}

export interface Examination {
  /** In the order to print them. None of them rejects. */
  readonly groups: readonly Findings[];
  close(): Promise<void>;
}

/**
 * Starts all checks. Each is bounded in time; the stores and the forge do not wait for each other. `close` ends
 * `workers`, too.
 */
export function examine(config: DoctorConfig, question: Question, workers: ReviewWorkers): Examination {
  const { databaseUrl, redisUrl } = config;
  const pool = databaseUrl === undefined ? undefined : makePool(databaseUrl, makeLog('silent'));
  const database = databaseUrl === undefined || pool === undefined ? undefined : checkDatabase(databaseUrl, pool);
  const forge = examineForge(config, question, {
    workers,
    database: Promise.resolve(database).then((report) => (report?.usable ? pool : undefined)),
    retentionDays: config.retentionDays,
  });
  return {
    groups: [
      Promise.resolve(config.findings),
      database?.then(({ findings }) => findings) ??
        Promise.resolve(skipped(['database', ...DATABASE_CHECKS], 'no DATABASE_URL')),
      redisUrl === undefined ? Promise.resolve(skipped(['redis'], 'no REDIS_URL')) : checkRedis(redisUrl),
      ...forge.groups,
    ],
    async close() {
      await Promise.all([forge.close(), workers.close(), pool?.end()]);
    },
  };
}

function examineForge(
  { forge: config, retentionDays }: DoctorConfig,
  { repository, webhookUrl }: Question,
  parts: Pick<RepositoryOptions, 'workers' | 'database' | 'retentionDays'>,
): Examination {
  const ofOne = repository === undefined ? ['repository'] : REPOSITORY_CHECKS;
  if (config === 'absent' || config === 'faulty') {
    const lacks = config === 'absent' ? 'no credentials here, a worker has them' : 'the configuration has faults';
    return {
      groups: [Promise.resolve(skipped(['forge', ...CREDENTIAL_CHECKS, ...ofOne], lacks))],
      close: async () => {},
    };
  }
  const forge = connectForge(config);
  const operators = readOperatorsPolicy(config.policyFile, parts.workers);
  let usable = false;
  const credentials = bounded('forge', async () => {
    const report = await checkCredentials(forge, config.forgeUrl);
    usable = report.usable;
    return report.findings;
  });
  const ofRepository = credentials.then(async () => {
    if (repository === undefined || !usable) {
      return skipped(ofOne, usable ? 'name one, as in gatehouse doctor owner/repository' : 'no access to the forge');
    }
    const options = { ...parts, forge, config, repository, webhookUrl, retentionDays, operators: await operators };
    return examineRepository(options);
  });
  return {
    groups: [operators.then(({ findings }) => findings), credentials, ofRepository],
    close: () => forge.close(),
  };
}

/** One line for POLICY_FILE, or for each of its faults. */
async function readOperatorsPolicy(
  path: string | undefined,
  workers: ReviewWorkers,
): Promise<PolicyOptions['operators'] & { readonly findings: readonly Finding[] }> {
  if (path === undefined) {
    return { configured: false, policy: undefined, findings: [] };
  }
  try {
    return { configured: true, policy: await readPolicyFile(path, workers), findings: [] };
  } catch (error) {
    const lines = reasonOf(error).split('\n');
    const faults = lines.length > 1 ? lines.slice(1) : lines;
    const findings = faults.map((fault) => wrong('policy file', fault, 'correct it: no worker starts with it'));
    return { configured: true, policy: undefined, findings };
  }
}

import type { Purpose } from '../../facts/purposes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { FORGES } from '../../forges/port/forges.ts';
import { reasonOf } from '../failures.ts';
import { type Finding, ok, skipped, unknown, wrong } from './finding.ts';

export const CREDENTIAL_CHECKS = ['account', 'scopes'] as const;

const ADD_SCOPES = 'add them at the forge: docs/connect-github.md and docs/connect-gitea.md say where';

/** Whether the forge answers, and as whom. The repository's checks follow only where it is `usable`. */
export async function checkCredentials(
  forge: Forge,
  forgeUrl: string,
): Promise<{ readonly findings: readonly Finding[]; readonly usable: boolean }> {
  const access = await forge.checkAccess();
  if (access.kind === 'unreachable') {
    const action = 'check FORGE_URL, DNS, the network policy and whether the forge is up';
    const findings = [wrong('forge', access.reason, action), ...skipped(CREDENTIAL_CHECKS, 'no forge')];
    return { findings, usable: false };
  }
  // Only the part of the URL that cannot have a password in it.
  const reached = ok('forge', `${FORGES[forge.name].title} at ${new URL(forgeUrl).origin} answers`);
  if (access.kind === 'not-accepted') {
    const action = 'replace FORGE_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, and check FORGE_URL';
    const findings = [reached, wrong('account', access.reason, action), ...skipped(['scopes'], 'no account')];
    return { findings, usable: false };
  }
  return { findings: [reached, await whoseThey(forge), await checkScopes(forge, undefined, [])], usable: true };
}

async function whoseThey(forge: Forge): Promise<Finding> {
  try {
    return ok('account', `the credentials are those of ${await forge.self()}`);
  } catch (error) {
    return unknown('account', `the forge does not say whose credentials they are: ${reasonOf(error)}`);
  }
}

/** The scopes for every repository, or for one that also needs `extras`. */
export async function checkScopes(
  forge: Forge,
  repository: string | undefined,
  extras: readonly Purpose[],
): Promise<Finding> {
  const check = repository === undefined ? 'scopes' : 'repository scopes';
  const { missing, unknown: reason } = await forge.inspection.grants(repository, extras);
  if (missing.length > 0) {
    const where = repository === undefined ? 'the credentials lack' : `in ${repository} the credentials lack`;
    return wrong(check, `${where}: ${missing.join(', ')}`, ADD_SCOPES);
  }
  if (reason !== undefined) {
    return unknown(check, `cannot be checked: ${reason}`, 'compare them with docs/connect-github.md');
  }
  return ok(check, repository === undefined ? 'what every review needs' : `what ${repository} and its policy need`);
}

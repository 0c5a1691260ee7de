import { statusContext } from '../../forges/port/status-context.ts';
import { reasonOf } from '../failures.ts';
import type { ByHand, ForgeSetup, SetupContext } from './context.ts';
import type { Settings } from './files.ts';
import { explained } from './gitea.ts';

const DEFAULT_CONTEXT = 'gatehouse/{base}';

/** Requires the commit status where `--protect` asks for it, and nowhere else. */
export async function protectBranch(
  context: SetupContext,
  settings: Settings,
  requireStatus: ForgeSetup['requireStatus'],
): Promise<readonly ByHand[]> {
  const { connection, options, say, setupToken } = context;
  const branch = options.protect;
  if (branch === undefined) {
    return [];
  }
  const name = statusContext(settings['STATUS_CONTEXT'] ?? DEFAULT_CONTEXT, branch);
  const byHand: ByHand[] = [];
  for (const repository of options.repositories) {
    const token = await setupToken();
    const status = { repository, branch, context: name, appId: settings['GITHUB_APP_ID'] };
    const asked = explained({ kind: 'repository', repository }, () => requireStatus(connection, token, status));
    // Everything else is done, and its next step has to be printed.
    const result = await asked.catch((error: unknown) => ({ kind: 'by-hand', reason: reasonOf(error) }) as const);
    switch (result.kind) {
      case 'already':
        say(`✔ ${repository} requires ${name} on ${branch}.`);
        break;
      case 'added':
        say(`✔ ${repository} now requires ${name} on ${branch}: ${result.what}.`);
        say('  Nothing can be merged there until Gatehouse runs and the branch has a .gatehouse.yml.');
        break;
      case 'by-hand':
        byHand.push({ text: `require ${name} on ${branch} of ${repository}: ${result.reason}`, fault: true });
        break;
    }
  }
  return byHand;
}

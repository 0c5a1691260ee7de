import { type Dialect, unknownKey } from './dialect.ts';
import type { Findings } from './findings.ts';
import { any, type Formula, predicate } from './formula.ts';
import { at, flagOf, type SourceNode } from './source.ts';

/**
 * `.github/dco.yml` of the DCO App, by its README: every commit is signed off with the e-mail address of its author,
 * except merges and the commits of bots. Without the file that is all it asks for.
 */
export const translateDco: Dialect = (root, findings) => {
  findings.kept(
    1,
    'Here a merge that changes a file itself must be signed off, and a commit of a bot beside those of people. Machine accounts that the operator names are bots. The name in the line is not compared.',
  );
  for (const [key, node] of root.entries()) {
    if (key !== 'require' && key !== 'allowRemediationCommits') {
      unknownKey(key, node, findings);
    }
  }
  const members = at(root, 'require');
  readFlags(members, findings, {
    members: (wanted, line) => {
      if (!wanted) {
        findings.lost(
          line,
          'Verified commits of members of the organisation needed no sign-off',
          'They need one here. If that is too strict, add to `any`: `commits: { every: { verified: true } }` and `contributors: { from: "@organisation/team", only: true }`.',
        );
      }
    },
  });
  const remediation = (whose: string) => (wanted: boolean, line: number) => {
    if (wanted) {
      findings.lost(
        line,
        `A later commit could sign off earlier ones ${whose}`,
        'Here each commit has its own line: `git rebase --signoff`.',
      );
    }
  };
  readFlags(at(root, 'allowRemediationCommits'), findings, {
    individual: remediation('of the same author'),
    thirdParty: remediation('for others'),
  });
  return {
    rules: [
      {
        name: 'signed-off',
        require: any([
          known('commits', { every: { signed_off: true } }),
          // The commits of bots need none. Whose a commit is cannot be asked of one, only of all.
          known('contributors', { bots: true, only: true }),
        ]),
        message: 'Every commit needs a line "Signed-off-by: Name <address>" of its author: git commit -s',
        findings: findings.all(),
      },
    ],
  };
};

function known(name: string, value: unknown): Formula {
  const made = predicate(name, value);
  if ('fault' in made) {
    throw new Error(made.fault);
  }
  return made.formula;
}

function readFlags(
  node: SourceNode | undefined,
  findings: Findings,
  readers: Readonly<Record<string, (wanted: boolean, line: number) => void>>,
): void {
  for (const [key, inner] of node?.entries() ?? []) {
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    const wanted = flagOf(inner);
    if (read === undefined) {
      unknownKey(key, inner, findings);
    } else if (wanted !== undefined) {
      read(wanted, inner.line);
    }
  }
}

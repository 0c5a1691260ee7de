/**
 * `npm run test:translate -- <file or folder>…`: translates files of other programs, and counts by their kind how many
 * became a policy whole, how many lost a line, and how many have faults. It exits with 1 if one became a policy that
 * Gatehouse does not accept, or if translating one threw. It stores nothing.
 *
 * The name shows the kind: `…policy…`, `…mergeable…`, `…dco…`.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parsePolicy } from '../../src/review/policy/parse.ts';
import { KINDS, type Kind, translateText } from '../../translate/translate-text.ts';

type Outcome = 'whole' | 'by line' | 'faults' | 'not accepted';

const OUTCOMES: readonly Outcome[] = ['whole', 'by line', 'faults', 'not accepted'];

async function filesIn(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) {
    return [path];
  }
  return (await Promise.all((await readdir(path)).map((name) => filesIn(join(path, name))))).flat();
}

function kindOf(path: string): Kind | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return /mergeable\.ya?ml$/.test(name)
    ? 'mergeable'
    : /dco\.ya?ml$/.test(name)
      ? 'dco'
      : /policy\.ya?ml$/.test(name)
        ? 'policy-bot'
        : undefined;
}

async function outcomeOf(kind: Kind, path: string): Promise<Outcome> {
  const translated = translateText(kind, await readFile(path, 'utf8'), path);
  if (!translated.ok) {
    return 'faults';
  }
  if (!parsePolicy(translated.policy, { path }).ok) {
    return 'not accepted';
  }
  return translated.findings.some((finding) => finding.kind === 'lost') ? 'by line' : 'whole';
}

const counts = new Map<string, number>();
const paths = (await Promise.all(process.argv.slice(2).map(filesIn))).flat().sort();
for (const path of paths) {
  const kind = kindOf(path);
  if (kind === undefined) {
    continue;
  }
  const outcome = await outcomeOf(kind, path);
  process.stdout.write(`${outcome.padEnd(12)}  ${path}\n`);
  counts.set(`${kind} ${outcome}`, (counts.get(`${kind} ${outcome}`) ?? 0) + 1);
}
process.stdout.write(`\n| Kind | ${OUTCOMES.join(' | ')} |\n|---|${OUTCOMES.map(() => '---|').join('')}\n`);
for (const kind of KINDS) {
  process.stdout.write(
    `| ${kind} | ${OUTCOMES.map((outcome) => counts.get(`${kind} ${outcome}`) ?? 0).join(' | ')} |\n`,
  );
}
process.exitCode = KINDS.some((kind) => counts.has(`${kind} not accepted`)) ? 1 : 0;

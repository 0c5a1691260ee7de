import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { formatFaults } from '../src/commands/check.ts';
import { defineCommand } from '../src/commands/command.ts';
import { reasonOf, UsageError } from '../src/commands/failures.ts';
import type { Terminal } from '../src/commands/terminal.ts';
import { parsePolicy } from '../src/review/policy/parse.ts';
import type { Finding } from './findings.ts';
import { isKind, KINDS, type Kind, translateText } from './translate-text.ts';

const PROGRAM = 'gatehouse-translate';
const TRANSLATED = 0;
const LOST = 1;
const UNREADABLE = 2;

export const translate = defineCommand({
  name: 'translate',
  program: PROGRAM,
  usage: [`<${KINDS.join('|')}> <file>`],
  text: `Prints a policy that asks for what the file of another program asked for:
  policy-bot  .policy.yml
  mergeable   .github/mergeable.yml
  dco         .github/dco.yml, of the DCO App
Each line that has no equal is reported on standard error: what it did, and what to do. What it asked for is then
never met, so that the policy is not weaker; where that is impossible, a note says so.`,
  options: {},
  positionals: { least: 2, most: 2, expected: 'the kind of the file, and the file' },
  exitCodes: {
    [TRANSLATED]: 'every line has an equal',
    [LOST]: 'a line has no equal, or the file has faults',
    [UNREADABLE]: 'the file cannot be read',
  },
  async run({ positionals: [kind = '', file = ''] }, terminal) {
    if (!isKind(kind)) {
      throw new UsageError(`expected one of ${KINDS.join(', ')}`);
    }
    return translateFile(kind, file, terminal);
  },
});

async function translateFile(
  kind: Kind,
  file: string,
  { stdout, stderr, folder }: Terminal,
): Promise<typeof TRANSLATED | typeof LOST | typeof UNREADABLE> {
  let text: string;
  try {
    text = await readFile(resolve(folder, file), 'utf8');
  } catch (error) {
    stderr.write(`${PROGRAM}: cannot read ${file}: ${reasonOf(error)}\n`);
    return UNREADABLE;
  }
  const translated = translateText(kind, text, file);
  if (!translated.ok) {
    stderr.write(formatFaults(translated.faults, text));
    return LOST;
  }
  const result = parsePolicy(translated.policy, { path: '<policy>' });
  if (!result.ok) {
    stderr.write(`${file}: the policy that it becomes is not accepted:\n`);
    stderr.write(formatFaults(result.faults, translated.policy));
    return LOST;
  }
  stdout.write(translated.policy);
  stderr.write(report(file, translated.findings));
  return translated.findings.some((finding) => finding.kind === 'lost') ? LOST : TRANSLATED;
}

/** A line for each finding, and how many there are. */
function report(file: string, findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ line, kind, text }) => `${file}:${line}: ${kind === 'lost' ? 'no equal' : 'note'}: ${text}\n`,
  );
  const lost = findings.filter(({ kind }) => kind === 'lost').length;
  const end = lost === 0 ? 'every line has an equal' : `${lost} without an equal`;
  return `${lines.join('')}${file}: ${end}. Judge merged pull requests by the policy before you use it: gatehouse backtest\n`;
}

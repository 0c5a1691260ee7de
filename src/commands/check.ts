import { readdir, readFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { shorten } from '../common/shorten.ts';
import { policyJsonSchema } from '../review/json-schema.ts';
import { MAX_POLICY_BYTES } from '../review/limits.ts';
import type { Fault } from '../review/policy/faults.ts';
import type { PolicyRole } from '../review/policy/parse.ts';
import { meantBy, misnamedAmong, misnamedFault, POLICY_PATHS } from '../review/policy/paths.ts';
import { visible } from '../review/text.ts';
import { defineCommand } from './command.ts';
import { reasonOf } from './failures.ts';
import type { Terminal } from './terminal.ts';

const VALID = 0;
const FAULTY = 1;
const UNREADABLE = 2;

const MAX_LINE_SHOWN = 160;

export const check = defineCommand({
  name: 'check',
  usage: ['[file | -] [options]'],
  text: `Checks a policy file and prints every fault with its line and column. Without a file, it checks the first of
${POLICY_PATHS.map((path) => `  ${path}`).join('\n')}
that exists here. "-" reads standard input.`,
  options: {
    baseline: {
      type: 'boolean',
      default: false,
      help: "the file is the organisation's baseline (POLICY_REPOSITORY), which can lock rules",
    },
    schema: {
      type: 'boolean',
      default: false,
      help: 'only print the JSON Schema of the policy file, for editors',
    },
  },
  positionals: { most: 1, expected: 'at most one file' },
  exitCodes: {
    [VALID]: 'the policy is valid',
    [FAULTY]: 'the policy has faults',
    [UNREADABLE]: "the file doesn't exist, or can't be read",
  },
  async run({ values, positionals: [path] }, terminal) {
    if (values.schema) {
      terminal.stdout.write(`${JSON.stringify(policyJsonSchema(), null, 2)}\n`);
      return VALID;
    }
    return checkPolicyFile(path, terminal, values.baseline ? 'baseline' : 'own');
  },
});

/** Checks one file, `-` for standard input, or the first policy file in the folder. Resolves to the exit code. */
async function checkPolicyFile(
  path: string | undefined,
  { stdin, stdout, stderr, folder, startWorkers }: Terminal,
  role: PolicyRole,
): Promise<typeof VALID | typeof FAULTY | typeof UNREADABLE> {
  const here = await policyFilesIn(folder);
  const file = path ?? firstPolicyFile(here);
  if (file === undefined) {
    stderr.write(`gatehouse check: ${noPolicyAmong(here)}`);
    return UNREADABLE;
  }
  let text: string;
  try {
    text = file === '-' ? await readAll(stdin) : await readFile(resolve(folder, file), 'utf8');
  } catch (error) {
    stderr.write(`gatehouse check: cannot read ${file}: ${reasonOf(error)}\n`);
    return UNREADABLE;
  }
  const name = file === '-' ? '<stdin>' : file;
  const workers = startWorkers();
  const result = await workers.parsePolicy(name, text, { path: name }, role);
  await workers.close();
  const ofName = await faultOfName(folder, file);
  if (!result.ok || ofName !== '') {
    stdout.write(`${ofName}${result.ok ? '' : formatFaults(result.faults, text)}`);
    return FAULTY;
  }
  const { rules } = result.policy;
  const extended = result.policy.extends;
  const also =
    extended === undefined ? '' : `, and those of ${extended.repository}@${extended.ref}, which were not checked`;
  const observed = rules.filter(({ level }) => level === 'observe').length;
  const ofThem = observed === 0 ? '' : ` (${observed} only observed)`;
  stdout.write(`${name}: valid, ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}${ofThem}${also}\n`);
  return VALID;
}

/**
 * The files at the root of a repository, and in the folders where a policy may be. Listed, because some file systems
 * open a file by a name in another case, and forges do not.
 */
export async function policyFilesIn(folder: string): Promise<readonly string[]> {
  const atRoot = await readdir(folder).catch(() => []);
  // In no folder is that the right name, and in each of these nearly.
  const folders = atRoot.filter((name) => meantBy(`${name}/gatehouse.yaml`) !== undefined);
  const below = folders.map(async (name) =>
    (await readdir(resolve(folder, name)).catch(() => [])).map((file) => `${name}/${file}`),
  );
  return [...atRoot, ...(await Promise.all(below)).flat()];
}

/** The policy among the files of a repository. */
export function firstPolicyFile(files: readonly string[]): string | undefined {
  return POLICY_PATHS.find((path) => files.includes(path));
}

/** What to print where there is none. */
export function noPolicyAmong(files: readonly string[]): string {
  const misnamed = formatFaults(
    misnamedAmong(files).flatMap(({ path }) => misnamedFault(path)),
    '',
  );
  return `no policy file here; looked for ${POLICY_PATHS.join(', ')}\n${misnamed}`;
}

/** What to print where Gatehouse would not read a file of a repository because of its name. */
async function faultOfName(folder: string, file: string): Promise<string> {
  const path = resolve(folder, file);
  const root = (await repositoryOf(dirname(path))) ?? folder;
  return formatFaults(misnamedFault(relative(root, path).replaceAll(sep, '/')), '');
}

/** The closest folder above that git has made a repository. */
async function repositoryOf(folder: string): Promise<string | undefined> {
  if ((await readdir(folder).catch((): string[] => [])).includes('.git')) {
    return folder;
  }
  const above = dirname(folder);
  return above === folder ? undefined : repositoryOf(above);
}

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const buffer = Buffer.from(chunk);
    chunks.push(buffer);
    bytes += buffer.length;
    // One over the limit is enough for the fault that says so.
    if (bytes > MAX_POLICY_BYTES) {
      break;
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** As compilers do: place and message, the line itself, and a caret under the column. */
export function formatFaults(faults: readonly Fault[], text: string): string {
  const lines = text.split(/\r?\n/);
  return faults
    .map(({ file, line, column, message }) => {
      const head = `${file}:${line}:${column}: ${message}\n`;
      const source = lines[line - 1];
      if (source === undefined || source.trim() === '' || column > MAX_LINE_SHOWN) {
        return head;
      }
      const gutter = String(line);
      // The text before the column as it is shown, so that the caret stands right below wide spellings too.
      const before = visible(source.slice(0, column - 1)).length;
      return `${head}  ${gutter} | ${visible(shorten(source, MAX_LINE_SHOWN))}\n  ${' '.repeat(gutter.length)} | ${' '.repeat(before)}^\n`;
    })
    .join('');
}

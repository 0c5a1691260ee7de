import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as expressions from '@actions/expressions';
import type * as workflows from '@actions/workflow-parser';
import type * as actions from '@actions/workflow-parser/actions/index';
import { build } from 'esbuild';

type Parsers = typeof expressions & typeof workflows & typeof actions;

const PACKAGES = ['@actions/expressions', '@actions/workflow-parser', '@actions/workflow-parser/actions/index'];

/** GitHub's own parsers. They import JSON in a way that Node refuses, so they are compiled first. */
async function load(): Promise<Parsers> {
  const root = join(import.meta.dirname, '../..');
  const folder = await mkdtemp(join(root, 'node_modules/.actions-'));
  try {
    const file = join(folder, 'actions.mjs');
    await build({
      stdin: { contents: PACKAGES.map((name) => `export * from '${name}';`).join('\n'), resolveDir: root },
      outfile: file,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
      logLevel: 'error',
    });
    return (await import(pathToFileURL(file).href)) as Parsers;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const parsers = await load();

interface Parsed {
  readonly context: { readonly errors: { getErrors(): readonly { readonly message: string }[] } };
}

const messagesOf = ({ context }: Parsed) => context.errors.getErrors().map(({ message }) => message);

/** What GitHub would find wrong with a workflow, by its own schema. */
export function faultsOfWorkflow(name: string, content: string): readonly string[] {
  return messagesOf(parsers.parseWorkflow({ name, content }, new parsers.NoOperationTraceWriter()));
}

/** What GitHub would find wrong with an Action's description. */
export function faultsOfAction(content: string): readonly string[] {
  return messagesOf(parsers.parseAction({ name: 'action.yml', content }, new parsers.NoOperationTraceWriter()));
}

/** A text with its `${{ … }}` evaluated, as a runner does it for the steps of an Action with these inputs. */
export function evaluated(text: string, inputs: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{(.*?)\}\}/g, (_, expression: string) => evaluate(expression, inputs));
}

/** The result of an expression such as that of `if`, as text. */
export function evaluate(expression: string, inputs: Readonly<Record<string, string>>): string {
  const { Dictionary, StringData } = parsers.data;
  const given = new Dictionary(
    ...Object.entries(inputs).map(([key, value]) => ({ key, value: new StringData(value) })),
  );
  const { tokens } = new parsers.Lexer(expression).lex();
  const parsed = new parsers.Parser(tokens, ['inputs'], []).parse();
  return new parsers.Evaluator(parsed, new Dictionary({ key: 'inputs', value: given })).evaluate().coerceString();
}

import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { EX_CONFIG, EX_USAGE, UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** An option as `node:util` parses it, and as the help describes it. */
interface Option extends ParseArgsOptionDescriptor {
  /** What the help calls its value, such as `file`. */
  readonly value?: string;
  readonly help: string;
}

type Options = Readonly<Record<string, Option>>;

/** What each exit code means. 64 is the same for every command, and left out. */
type ExitCodes = Readonly<Record<number, string>>;

interface Input<O extends Options> {
  readonly values: ReturnType<typeof parseArgs<{ options: O }>>['values'];
  readonly positionals: readonly string[];
}

interface Definition<O extends Options, E extends ExitCodes> {
  /** As in table.ts. */
  readonly name: string;
  /** What may follow the name, one line for each form. */
  readonly usage: readonly string[];
  /** What it does. Lines of at most 120 characters. */
  readonly text: string;
  readonly options: O;
  /** How many arguments it takes that are not options, and their name in an error. None if absent. */
  readonly positionals?: { readonly least?: number; readonly most?: number; readonly expected: string };
  /** What the help says after the options. */
  readonly notes?: string;
  /** Which settings it reads. None if absent. */
  readonly settings?: string;
  readonly exitCodes: E;
  /** Whether it logs the error that stops it as JSON, instead of printing a sentence. */
  readonly logs?: boolean;
  /** Whether a connection may be left open when it ends. */
  readonly mayHang?: boolean;
  /** Resolves with one of its exit codes. Throws a {@link UsageError} or a `ConfigurationError`. */
  run(input: Input<O>, terminal: Terminal): Promise<NoInfer<keyof E & number>>;
}

export interface Command {
  readonly name: string;
  readonly usage: readonly string[];
  readonly exitCodes: ExitCodes;
  readonly logs: boolean;
  readonly mayHang: boolean;
  readonly help: string;
  /** `args`: what follows the name. Resolves with the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

export const WRONG_CONFIGURATION = { [EX_CONFIG]: 'invalid configuration' } as const;
export const UNUSABLE_DATABASE = {
  [EX_CONFIG]: 'invalid configuration, or a database schema that is older or newer than this version',
} as const;

/** Makes a command of its definition, which is all that its help, its arguments and its exit codes come from. */
export function defineCommand<const O extends Options, const E extends ExitCodes>(
  definition: Definition<O, E>,
): Command {
  const { name, usage, options } = definition;
  const { least = 0, most = 0, expected = '' } = definition.positionals ?? {};
  const exitCodes = { ...definition.exitCodes, [EX_USAGE]: 'invalid usage' };
  const help = helpOf(definition, exitCodes);
  return {
    ...{ name, usage, exitCodes, help },
    logs: definition.logs ?? false,
    mayHang: definition.mayHang ?? false,
    async run(args, terminal) {
      const config = { args: [...args], allowPositionals: most > 0 };
      const { values, positionals } = parseArgs({ ...config, options: { ...options, ...HELP_OPTION } });
      if ('help' in values && values.help === true) {
        terminal.stdout.write(help);
        return 0;
      }
      if (positionals.length < least || positionals.length > most) {
        throw new UsageError(`expected ${expected}`);
      }
      return definition.run({ values, positionals }, terminal);
    },
  };
}

const HELP_OPTION = { help: { type: 'boolean', short: 'h', default: false, help: 'print this' } } as const;
const HELP_WIDTH = 120;

type Described = Pick<Definition<Options, ExitCodes>, 'name' | 'usage' | 'text' | 'options' | 'notes' | 'settings'>;

function helpOf({ name, usage, text, options, notes, settings }: Described, exitCodes: ExitCodes): string {
  const described: Options = { ...options, ...HELP_OPTION };
  const sections = [
    `Usage: ${usage.map((form) => `gatehouse ${name} ${form}`.trimEnd()).join('\n       ')}`,
    text,
    `Options:\n${rowsOf(
      Object.entries(described).map(([option, { value, help }]) => [
        `--${option}${value === undefined ? '' : ` <${value}>`}`,
        help,
      ]),
    )}`,
    notes,
    settings === undefined ? undefined : wrap(`Settings: ${settings}`, HELP_WIDTH).join('\n'),
    `Exit codes:\n${rowsOf(Object.entries(exitCodes))}`,
  ];
  return `${sections.filter((section) => section !== undefined).join('\n\n')}\n`;
}

/** Two columns, the second of which is wrapped. */
function rowsOf(rows: readonly (readonly [string, string])[]): string {
  const indent = 4 + Math.max(...rows.map(([first]) => first.length));
  return rows
    .map(([first, second]) => {
      const lines = wrap(second, HELP_WIDTH - indent);
      return `  ${first.padEnd(indent - 2)}${lines.join(`\n${' '.repeat(indent)}`)}`;
    })
    .join('\n');
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

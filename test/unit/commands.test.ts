import { defineCommand } from '../../src/commands/command.ts';
import { EX_USAGE } from '../../src/commands/failures.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { NOWHERE } from '../helpers/free-port.ts';
import { runCommand, runGatehouse } from '../helpers/run-command.ts';
import test from '../helpers/test.ts';

const MAX_WIDTH = 120;

for (const [name, { load }] of Object.entries(COMMANDS)) {
  test(`the help of ${name} has its usage and every exit code, in lines that fit`, async (t) => {
    const command = await load();
    t.is(command.name, name);
    const { code, stdout } = await runCommand(command, ['--help']);
    t.is(code, 0);
    t.is(stdout, command.help);
    t.true(stdout.startsWith(`Usage: gatehouse ${name}`));
    for (const exitCode of [0, 1, EX_USAGE]) {
      t.true(exitCode in command.exitCodes, `exit code ${exitCode}`);
    }
    const [, codes = ''] = stdout.split('\nExit codes:\n');
    t.deepEqual(
      [...codes.matchAll(/^ {2}(\d+) /gm)].map(([, digits]) => digits),
      Object.keys(command.exitCodes),
    );
    t.deepEqual(
      stdout.split('\n').filter((line) => line.length > MAX_WIDTH),
      [],
    );
  });
}

/** Only what a command says of its arguments before it does anything else. */
const WRONG: Readonly<Record<string, readonly (readonly string[])[]>> = {
  serve: [['--fast']],
  migrate: [['now']],
  send: [[], ['a', 'b'], ['-', '--url', 'localhost:8080/webhook']],
  check: [['--nope'], ['a', 'b']],
  doctor: [['a', 'b'], ['no-owner'], ['a/b/c'], ['../b'], ['--url', 'gatehouse.example.com'], ['--nope']],
  deliveries: [
    ...[['--limit', '0'], ['--limit', 'all'], ['middle']],
    ...[
      ['--pull-request', '7'],
      ['--repository', 'acme/widgets', '--pull-request', '#7'],
    ],
    ...[
      ['--since', 'yesterday'],
      ['--since', '2026-13-01'],
    ],
  ],
  audit: [
    ...[[], ['--since', 'soon'], ['https://git.example.com/acme/widgets']],
    ['https://git.example.com/acme/widgets/pulls/1', '--since', '1d'],
  ],
  merges: [['--json', '--csv']],
  replay: [[], ['--dead-letters', 'widgets']],
};

for (const [name, wrong] of Object.entries(WRONG)) {
  test(`${name} refuses wrong arguments with status 64 and its usage`, async (t) => {
    const env = {
      FORGE: 'gitea',
      WEBHOOK_SECRET: 'long enough for a test',
      DATABASE_URL: `postgres://${NOWHERE}/none`,
    };
    for (const args of wrong) {
      const { code, stderr } = await runGatehouse([name, ...args], { env });
      t.is(code, EX_USAGE, args.join(' '));
      t.regex(stderr, new RegExp(`^gatehouse ${name}: [^]*\\nUsage: gatehouse ${name} `), args.join(' '));
    }
  });
}

test('a missing or unknown command is wrong usage, and prints the help', async (t) => {
  for (const args of [[], ['frobnicate']]) {
    const { code, stderr } = await runGatehouse(args);
    t.is(code, EX_USAGE);
    t.regex(stderr, /Usage: gatehouse </);
  }
});

const greet = defineCommand({
  name: 'greet',
  usage: ['<name> [--times <count>]'],
  text: 'Greets.',
  options: { times: { type: 'string', default: '1', value: 'count', help: `${'often '.repeat(30)}enough` } },
  positionals: { least: 1, most: 2, expected: 'one name or two' },
  exitCodes: { 0: 'greeted', 3: 'nobody came' },
  async run({ values, positionals }, { stdout }) {
    stdout.write(`${values.times} ${positionals.join(' ')}`);
    return 3;
  },
});

test('a command gets its options and arguments, or never runs with too few, too many or unknown ones', async (t) => {
  t.deepEqual(await runCommand(greet, ['alice', '--times', '2']), { code: 3, stdout: '2 alice', stderr: '' });
  for (const args of [[], ['alice', 'bob', 'carol']]) {
    await t.throwsAsync(runCommand(greet, args), { name: 'UsageError', message: 'expected one name or two' });
  }
  await t.throwsAsync(runCommand(greet, ['alice', '--loud']), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' });
});

test('the help of a command is made of its definition', async (t) => {
  const { code, stdout } = await runCommand(greet, ['-h', '--times', '2']);
  t.is(code, 0);
  t.is(
    stdout,
    `Usage: gatehouse greet <name> [--times <count>]

Greets.

Options:
  --times <count>  ${'often '.repeat(17).trimEnd()}
                   ${'often '.repeat(13)}enough
  --help           print this

Exit codes:
  0   greeted
  3   nobody came
  64  invalid usage
`,
  );
});

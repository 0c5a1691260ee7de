import { execute } from '../helpers/execute.ts';

/** The longest that kubectl and helm are told to wait is four minutes. */
const LIMIT_MS = 300_000;

export interface Result {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly input?: string | undefined;
  readonly timeoutMs?: number;
}

/** Runs a command. That it fails is a value. */
export async function tryCommand(command: string, args: readonly string[], options: Options = {}): Promise<Result> {
  const env = { ...process.env, DOCKER_BUILDKIT: '1' };
  return execute(command, args, { env, timeoutMs: LIMIT_MS, ...options }).then(
    ({ stdout, stderr }) => ({ ok: true, stdout, stderr }),
    (error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      return { ok: false, stdout, stderr: stderr === '' ? String(error) : stderr };
    },
  );
}

/** Runs a command and returns what it printed. */
export async function command(name: string, args: readonly string[], options: Options = {}): Promise<string> {
  const { ok, stdout, stderr } = await tryCommand(name, args, options);
  if (!ok) {
    throw new Error(`${name} ${args.slice(0, 6).join(' ')}: ${stderr.trim() || stdout.trim()}`);
  }
  return stdout;
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface Result {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command. That it fails is a value. */
export async function tryCommand(command: string, args: readonly string[], input?: string): Promise<Result> {
  const env = { ...process.env, DOCKER_BUILDKIT: '1' };
  const child = run(command, [...args], { env, maxBuffer: MAX_OUTPUT_BYTES });
  child.child.stdin?.end(input);
  return child.then(
    ({ stdout, stderr }) => ({ ok: true, stdout, stderr }),
    (error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      return { ok: false, stdout, stderr: stderr === '' ? String(error) : stderr };
    },
  );
}

/** Runs a command and returns what it printed. */
export async function command(name: string, args: readonly string[], input?: string): Promise<string> {
  const { ok, stdout, stderr } = await tryCommand(name, args, input);
  if (!ok) {
    throw new Error(`${name} ${args.slice(0, 6).join(' ')}: ${stderr.trim() || stdout.trim()}`);
  }
  return stdout;
}

import { type ExecFileOptions, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LONG_MS } from './deadline.ts';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

interface Options extends Pick<ExecFileOptions, 'cwd' | 'env'> {
  readonly input?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Runs a program to its end, and returns what it printed. Rejects as execFile does; one that takes too long is killed. */
export async function execute(
  program: string,
  args: readonly string[],
  { input, timeoutMs = LONG_MS, ...options }: Options = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
  const running = run(program, [...args], { ...options, ...limits });
  running.child.stdin?.end(input);
  return running.catch((error: Error & { readonly signal?: string | null; readonly stderr?: string }) => {
    if (error.signal !== limits.killSignal) {
      throw error;
    }
    const late = `${program} ${args.slice(0, 2).join(' ')} was killed, after ${timeoutMs} ms at the latest`;
    throw Object.assign(error, { message: `${late}\n${error.message}`, stderr: `${error.stderr ?? ''}\n${late}` });
  });
}

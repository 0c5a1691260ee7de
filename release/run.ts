import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Longer than any step takes: a registry that does not answer may not hang a release. */
const LIMIT_MS = 30 * 60_000;

/** Runs a program. Resolves with what it printed; rejects with its last words. */
export type Run = (program: string, ...args: readonly string[]) => Promise<string>;

export function runIn(folder: string): Run {
  return async (program, ...args) => {
    try {
      const { stdout } = await execute(program, [...args], {
        cwd: folder,
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: LIMIT_MS,
      });
      return stdout.trim();
    } catch (error) {
      const { stderr = '', code, signal } = error as { stderr?: string; code?: unknown; signal?: string | null };
      const lastWords = code === 'ENOENT' ? 'it is not installed' : stderr.trim().split('\n').slice(-20).join('\n');
      const reason = signal ? `${signal} ended it. ${lastWords}` : lastWords;
      throw new Error(`${program} ${args[0]} failed: ${reason}`, { cause: error });
    }
  };
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs a program. Resolves with what it printed; rejects with its last words. */
export type Run = (program: string, ...args: readonly string[]) => Promise<string>;

export function runIn(folder: string): Run {
  return async (program, ...args) => {
    try {
      const { stdout } = await execute(program, [...args], { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES });
      return stdout.trim();
    } catch (error) {
      const { stderr = '', code } = error as { stderr?: string; code?: unknown };
      const reason = code === 'ENOENT' ? 'it is not installed' : stderr.trim().split('\n').slice(-20).join('\n');
      throw new Error(`${program} ${args[0]} failed: ${reason}`, { cause: error });
    }
  };
}

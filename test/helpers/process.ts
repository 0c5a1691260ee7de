import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inTime } from './deadline.ts';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a process with `PORT=0` and `METRICS_PORT=0` listens, once it does. */
export async function portsOf({ logged }: Pick<GatehouseProcess, 'logged'>) {
  return (await logged('Gatehouse is listening')) as { readonly port: number; readonly metricsPort: number };
}

export type GatehouseProcess = ReturnType<typeof gatehouse>;

/**
 * A real `gatehouse` process. Its environment is only what is given, beside the path and where Node keeps compiled modules. `main`: of another version.
 */
export function gatehouse(args: readonly string[], env: Readonly<Record<string, string>>, input = '', main = MAIN) {
  const { PATH, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const look of waiting) {
      look();
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const finished = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));

  return {
    child,
    /** Waits for its end; for nobody may it go on for another minute. */
    ended: (): Promise<Finished> =>
      inTime(`gatehouse ${args[0]} ended`, finished).catch((cause) => {
        child.kill('SIGKILL');
        throw new Error(`${cause.message}:\n${stdout}${stderr}`, { cause });
      }),
    output: (): string => stdout + stderr,
    /** Waits for a log line with this message, and gives the line's fields. */
    logged(message: string): Promise<Readonly<Record<string, unknown>>> {
      const found = Promise.withResolvers<Readonly<Record<string, unknown>>>();
      const look = () => {
        const line = stdout.split('\n').find((text) => text.includes(`"msg":"${message}"`));
        if (line !== undefined) {
          waiting.delete(look);
          found.resolve(JSON.parse(line));
        }
      };
      waiting.add(look);
      look();
      void finished.then(() => found.reject(new Error(`it ended without logging "${message}":\n${stdout}${stderr}`)));
      return inTime(`gatehouse ${args[0]} logged "${message}"`, found.promise);
    },
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));

export type Environment = Readonly<Record<string, string>>;

/** Runs a `gatehouse` command to its end. Its output is shown only when it fails. */
export async function runCommand(args: readonly string[], env: Environment): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`gatehouse ${args.join(' ')} exited with status ${code}:\n${output}`);
  }
}

export interface RunningService {
  readonly port: number;
  readonly metricsPort: number;
  /** Asks it to drain, and resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Resolves when it ends for whatever reason. */
  readonly ended: Promise<number | null>;
}

/** Starts `gatehouse serve --with-worker` in a separate process and waits until it listens. Only its warnings are shown. */
export async function startServe(env: Environment): Promise<RunningService> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--with-worker'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A terminal's Ctrl-C is for the demo, which then stops the service before the stores.
    detached: true,
  });
  // `timeout` and npm may send a signal each, and the second one ends the demo before it could stop the service.
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const { port, metricsPort } = await listening(child, ended);
  return {
    port,
    metricsPort,
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly err?: { readonly message: string };
  readonly port?: number;
  readonly metricsPort?: number;
}

async function listening(child: ChildProcess, ended: Promise<number | null>) {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) {
    throw new Error('the service has no output');
  }
  const ports = Promise.withResolvers<{ port: number; metricsPort: number }>();
  const complaints: string[] = [];
  createInterface({ input: stdout }).on('line', (text) => {
    const line: LogLine = JSON.parse(text);
    if (line.level === 'fatal') {
      complaints.push(line.err?.message ?? line.msg);
    } else if (line.level !== 'info') {
      const { message = '' } = line.err ?? {};
      process.stderr.write(`  ${line.level}: ${line.msg}${message && `: ${message}`}\n`);
    }
    if (line.port !== undefined && line.metricsPort !== undefined) {
      ports.resolve({ port: line.port, metricsPort: line.metricsPort });
    }
  });
  createInterface({ input: stderr }).on('line', (text) => {
    complaints.push(text);
    process.stderr.write(`${text}\n`);
  });
  void ended.then((code) => {
    const said = complaints.join('\n');
    const advice = said.includes('EADDRINUSE') ? '\nTry other ports: PORT=8081 METRICS_PORT=9091 npm run demo' : '';
    ports.reject(new Error(`The service ended with status ${code} before it listened: ${said}${advice}`));
  });
  return ports.promise;
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { within } from './deadline.ts';
import { onFreePort } from './free-port.ts';
import { watchOutput } from './processes.ts';
import type { Store } from './stores.ts';

const READY_MS = 60_000;
const STOP_MS = 10_000;

/** Valkey answers for Redis. It keeps nothing when it stops. */
export function startEmbeddedValkey(log: (line: string) => void = () => {}): Promise<Store> {
  return onFreePort((port) => startOn(port, log));
}

async function startOn(port: number, log: (line: string) => void): Promise<Store> {
  let server: ChildProcess | undefined;

  const signal = (name: NodeJS.Signals): ChildProcess => {
    if (!server) {
      throw new Error('Valkey is not running');
    }
    server.kill(name);
    return server;
  };
  const start = async () => {
    if (server) {
      return;
    }
    const child = launch(port, log);
    child.process.once('exit', () => {
      if (server === child.process) {
        server = undefined;
      }
    });
    server = child.process;
    try {
      await within(READY_MS, `Valkey was not ready within ${READY_MS} ms`, child.ready);
    } catch (error) {
      child.process.kill('SIGKILL');
      throw error;
    }
  };

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    async pause() {
      signal('SIGSTOP');
    },
    async resume() {
      signal('SIGCONT');
    },
    start,
    async stop() {
      if (!server) {
        return;
      }
      const child = signal('SIGCONT');
      const exited = once(child, 'exit');
      child.disconnect();
      try {
        await within(STOP_MS, `Valkey did not stop within ${STOP_MS} ms`, exited);
      } catch (error) {
        child.kill('SIGKILL');
        throw error;
      }
    },
    async kill() {
      if (server) {
        await once(signal('SIGKILL'), 'exit');
      }
    },
  };
}

function launch(port: number, log: (line: string) => void) {
  const child = fork(new URL('./valkey-process.ts', import.meta.url), [String(port)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines = watchOutput(child, log);
  const ready = Promise.withResolvers<void>();
  // Other messages may come: `node --watch` makes its descendants report what they load.
  child.on('message', (message) => message === 'ready' && ready.resolve());
  child.once('close', (code, signal) => {
    ready.reject(new Error([`Valkey ended (${signal ?? `exit code ${code}`})`, ...lines].join('\n')));
  });
  return { process: child, ready: ready.promise };
}

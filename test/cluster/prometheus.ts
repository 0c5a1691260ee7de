import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { onFreePort } from '../helpers/free-port.ts';
import { tryCommand } from './commands.ts';
import { eventually } from './eventually.ts';
import type { Namespace, Pod } from './namespace.ts';

/** The job of the usual configuration that scrapes annotated pods. */
export const SCRAPE_JOB = 'kubernetes-pods';

export interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly lastError?: string;
  /** Of an alert: inactive, pending or firing. */
  readonly state: string;
}

export interface Prometheus {
  /** The samples of an instant query: their values. Throws when Prometheus refuses the expression. */
  query(expression: string): Promise<readonly number[]>;
  /** The values that a label has on the series of a selector. */
  labelValues(selector: string, label: string): Promise<readonly string[]>;
  /** The health of each target. */
  targets(): Promise<readonly string[]>;
  /** Every rule, each evaluated at least once. */
  rules(): Promise<readonly Rule[]>;
  stop(): Promise<void>;
}

export const hasPrometheus = async () => (await tryCommand('prometheus', ['--version'])).ok;

/**
 * Runs Prometheus on 127.0.0.1. It scrapes the pods that are annotated for it, at the port and path of their annotations.
 * Debian's Prometheus cannot discover pods, so each becomes a static target, reached over a forwarded port.
 */
export async function startPrometheus(
  at: Namespace,
  pods: readonly Pod[],
  groups: readonly object[],
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-prometheus-'));
  const children: ChildProcess[] = [];
  async function stop(): Promise<void> {
    for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    await rm(folder, { recursive: true });
  }
  try {
    const static_configs = [];
    for (const pod of pods.filter(({ annotations }) => annotations['prometheus.io/scrape'] === 'true')) {
      const port = pod.annotations['prometheus.io/port'] ?? '';
      const forward = spawn('kubectl', [...at.inNamespace, 'port-forward', `pod/${pod.name}`, `:${port}`]);
      children.push(forward);
      static_configs.push({
        targets: [await forwardedTo(forward)],
        labels: {
          __metrics_path__: pod.annotations['prometheus.io/path'],
          namespace: at.name,
          pod: pod.name,
          instance: `${pod.ip}:${port}`,
        },
      });
    }
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [{ job_name: SCRAPE_JOB, static_configs }],
    };
    await writeFile(join(folder, 'prometheus.yaml'), stringify(config));
    await writeFile(join(folder, 'rules.yaml'), stringify({ groups }));
    const address = await onFreePort(async (port) => {
      const free = `127.0.0.1:${port}`;
      children.push(await serve(folder, free));
      return free;
    });
    return { ...clientOf(`http://${address}/api/v1/`), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when it is ready. Rejects with what it said when it ends before. */
async function serve(folder: string, address: string): Promise<ChildProcess> {
  const prometheus = spawn(
    'prometheus',
    [
      '--config.file=prometheus.yaml',
      '--storage.tsdb.path=data',
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  prometheus.stderr.on('data', (text) => {
    said += text;
  });
  await eventually('Prometheus is ready', async () => {
    if (prometheus.exitCode !== null) {
      throw new Error(`Prometheus ended: ${said}`);
    }
    return fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return prometheus;
}

/** The local address of which `kubectl port-forward` tells in its first line. */
async function forwardedTo(forward: ChildProcess): Promise<string> {
  if (forward.stdout === null) {
    throw new Error('kubectl port-forward has no output');
  }
  for await (const line of createInterface({ input: forward.stdout })) {
    const [, address] = /^Forwarding from (127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (address !== undefined) {
      forward.stdout.resume();
      return address;
    }
  }
  throw new Error('kubectl port-forward ended without forwarding a port');
}

function clientOf(api: string): Omit<Prometheus, 'stop'> {
  async function get<T>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<T> {
    const response = await fetch(`${api}${path}?${new URLSearchParams(parameters)}`);
    const answer = (await response.json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') {
      throw new Error(`Prometheus refuses ${JSON.stringify(parameters)}: ${answer.error}`);
    }
    return answer.data;
  }
  const rules = async () =>
    (await get<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap((group) => group.rules);
  return {
    async query(expression) {
      const { result } = await get<{ result: { value: [number, string] }[] }>('query', { query: expression });
      return result.map(({ value }) => Number(value[1]));
    },
    labelValues: (selector, label) => get(`label/${label}/values`, { 'match[]': selector }),
    async targets() {
      const { activeTargets } = await get<{ activeTargets: { health: string }[] }>('targets');
      return activeTargets.map(({ health }) => health);
    },
    async rules() {
      await eventually('every rule was evaluated', async () =>
        (await rules()).every(({ health }) => health !== 'unknown'),
      );
      return rules();
    },
  };
}

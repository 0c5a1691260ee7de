import type { Namespace } from './namespace.ts';

const LOG_LINES = 15;

interface ContainerState {
  readonly name: string;
  readonly restartCount: number;
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly initContainerStatuses?: readonly ContainerState[];
    readonly containerStatuses?: readonly ContainerState[];
  };
}

/** The pods, their Services, the warnings, and the last lines of every container: for the output of a failed case. */
export async function diagnose(at: Namespace): Promise<string> {
  const { items } = (await at.get(['pods'])) as { items: readonly Pod[] };
  const containers = items.flatMap(({ metadata, status }) =>
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(({ name, restartCount }) => ({
      pod: metadata.name,
      container: name,
      restarted: restartCount > 0,
    })),
  );
  const parts = [
    (await at.tryKubectl(['get', 'pods', '-o', 'wide'])).stdout,
    (await at.tryKubectl(['get', 'services,endpointslices'])).stdout,
    (await at.tryKubectl(['get', 'events', '--field-selector', 'type=Warning', '--sort-by', '.lastTimestamp'])).stdout,
  ];
  for (const { pod, container, restarted } of containers) {
    const logs = ['logs', pod, '-c', container, `--tail=${LOG_LINES}`];
    for (const args of restarted ? [[...logs, '--previous'], logs] : [logs]) {
      const { stdout, stderr } = await at.tryKubectl(args);
      parts.push(`${args.slice(1).join(' ')}\n${stdout || stderr}`);
    }
  }
  return `${at.name}\n${parts.join('\n')}`;
}

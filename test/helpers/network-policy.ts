import type { Manifest } from './manifests.ts';

export type Labels = Readonly<Record<string, string>>;

interface Rule {
  readonly ports: readonly { readonly port: number }[];
  readonly from?: readonly { readonly podSelector?: { readonly matchLabels: Labels } }[];
  readonly to?: readonly { readonly podSelector?: { readonly matchLabels: Labels } }[];
}

/** Whether a NetworkPolicy lets a pod of its namespace in, or its own pods out to one. */
export function lets(policy: Manifest, direction: 'ingress' | 'egress', pod: Labels, port: number): boolean {
  const rules = (policy.spec?.[direction] ?? []) as readonly Rule[];
  return rules.some(({ ports, from, to }) => {
    const peers = direction === 'ingress' ? from : to;
    const isPeer = peers?.some(({ podSelector }) => {
      const labels = Object.entries(podSelector?.matchLabels ?? {});
      return labels.length > 0 && labels.every(([label, value]) => pod[label] === value);
    });
    return ports.some((open) => open.port === port) && (isPeer ?? true);
  });
}

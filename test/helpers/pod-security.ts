import { containersOf, type PodSpec } from './manifests.ts';

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const SECCOMP = ['RuntimeDefault', 'Localhost'];

/**
 * What of a pod the "restricted" profile of the Kubernetes Pod Security Standards refuses, after
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/.
 */
export function restrictedFaults(spec: PodSpec): string[] {
  const faults: string[] = [];
  const pod = spec.securityContext ?? {};
  for (const host of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[host]) {
      faults.push(host);
    }
  }
  for (const { name, ...source } of spec.volumes ?? []) {
    const type = Object.keys(source)[0] ?? 'none';
    if (!VOLUMES.includes(type)) {
      faults.push(`volume ${name}: ${type}`);
    }
  }
  for (const { name, securityContext, ports = [] } of containersOf(spec)) {
    const own: Readonly<Record<string, unknown>> = { ...pod, ...securityContext };
    const capabilities = (own['capabilities'] ?? {}) as { drop?: string[]; add?: string[] };
    const seccomp = own['seccompProfile'] as { type?: string } | undefined;
    const fault = (what: string) => faults.push(`${name}: ${what}`);
    if (own['privileged']) {
      fault('privileged');
    }
    if (own['allowPrivilegeEscalation'] !== false) {
      fault('allowPrivilegeEscalation');
    }
    if (own['runAsNonRoot'] !== true) {
      fault('runAsNonRoot');
    }
    // Stricter than the profile: kubelet can check runAsNonRoot only for a numeric user.
    if (!(Number(own['runAsUser']) > 0)) {
      fault('runAsUser');
    }
    if (!SECCOMP.includes(seccomp?.type ?? '')) {
      fault('seccompProfile');
    }
    if (!capabilities.drop?.includes('ALL')) {
      fault('capabilities.drop');
    }
    if (capabilities.add?.some((capability) => capability !== 'NET_BIND_SERVICE')) {
      fault('capabilities.add');
    }
    if (ports.some((port) => 'hostPort' in port)) {
      fault('hostPort');
    }
  }
  return faults;
}

import { z } from 'zod';
import type { Manifest } from './manifests.ts';

/**
 * The custom resources of the chart, and one that the documents show. Their schemas are no part of Kubernetes' own, so they are written out here,
 * strictly, with the fields that the chart may set, after the API references of Gateway API v1 and of the Prometheus
 * operator's `monitoring.coreos.com/v1`.
 */

const text = z.string().min(1);
const map = z.record(z.string(), z.string());
const port = z.int().min(1).max(65_535);
const duration = z.string().regex(/^(\d+(ms|s|m|h))+$/);
const metadata = z.strictObject({ name: text, namespace: text, labels: map, annotations: map.optional() });

const parentRef = z.strictObject({
  group: z.string().optional(),
  kind: text.optional(),
  namespace: text.optional(),
  name: text,
  sectionName: text.optional(),
  port: port.optional(),
});

const httpRoute = z.strictObject({
  apiVersion: z.literal('gateway.networking.k8s.io/v1'),
  kind: z.literal('HTTPRoute'),
  metadata,
  spec: z.strictObject({
    parentRefs: z.array(parentRef).min(1),
    hostnames: z.array(text).min(1).optional(),
    rules: z.array(
      z.strictObject({
        matches: z.array(
          z.strictObject({ path: z.strictObject({ type: z.enum(['Exact', 'PathPrefix']), value: z.string() }) }),
        ),
        backendRefs: z.array(z.strictObject({ name: text, port })),
      }),
    ),
  }),
});

const relabeling = z.strictObject({
  sourceLabels: z.array(text).optional(),
  separator: z.string().optional(),
  targetLabel: text.optional(),
  regex: z.string().optional(),
  modulus: z.int().optional(),
  replacement: z.string().optional(),
  action: text.optional(),
});

const serviceMonitor = z.strictObject({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  kind: z.literal('ServiceMonitor'),
  metadata,
  spec: z.strictObject({
    namespaceSelector: z.strictObject({ matchNames: z.array(text) }),
    selector: z.strictObject({ matchLabels: map }),
    endpoints: z.array(
      z.strictObject({
        port: text,
        path: text,
        interval: duration.optional(),
        relabelings: z.array(relabeling).optional(),
      }),
    ),
  }),
});

const prometheusRule = z.strictObject({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  kind: z.literal('PrometheusRule'),
  metadata,
  spec: z.strictObject({
    groups: z.array(
      z.strictObject({
        name: text,
        rules: z.array(
          z.strictObject({
            alert: z.string().regex(/^[A-Z]\w+$/),
            expr: text,
            for: duration,
            labels: z.looseObject({ severity: z.enum(['critical', 'warning']) }).and(map),
            annotations: z.strictObject({ summary: text, description: text, runbook_url: z.url().optional() }),
          }),
        ),
      }),
    ),
  }),
});

/**
 * KEDA's, which docs/sizing.md shows, with the fields that it may set: after the definition of
 * `scaledobjects.keda.sh` (kedacore/keda, `config/crd/bases`, Apache-2.0) and the reference of the Prometheus scaler.
 */
const scaledObject = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('ScaledObject'),
  metadata: z.strictObject({ name: text, namespace: text }),
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ apiVersion: text.optional(), kind: text.optional(), name: text }),
    minReplicaCount: z.int().min(0).optional(),
    maxReplicaCount: z.int().min(1).optional(),
    pollingInterval: z.int().min(1).optional(),
    cooldownPeriod: z.int().min(0).optional(),
    triggers: z
      .array(
        z.strictObject({
          type: z.literal('prometheus'),
          metadata: z.strictObject({
            serverAddress: z.url(),
            query: text,
            threshold: z.string().regex(/^\d+(\.\d+)?$/),
            activationThreshold: z.string().optional(),
            ignoreNullValues: z.enum(['true', 'false']).optional(),
          }),
        }),
      )
      .min(1),
  }),
});

export const parseScaledObject = (manifest: unknown) => scaledObject.parse(manifest);

export type PrometheusRule = z.infer<typeof prometheusRule>;
export const parsePrometheusRule = (manifest: Manifest): PrometheusRule => prometheusRule.parse(manifest);

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  'gateway.networking.k8s.io/v1/HTTPRoute': httpRoute,
  'monitoring.coreos.com/v1/ServiceMonitor': serviceMonitor,
  'monitoring.coreos.com/v1/PrometheusRule': prometheusRule,
};

export const CUSTOM_KINDS: readonly string[] = Object.keys(SCHEMAS);

/** What is wrong with a custom resource; undefined when the object is none that the chart knows. */
export function customResourceFaults(manifest: Manifest): string[] | undefined {
  const result = SCHEMAS[`${manifest.apiVersion}/${manifest.kind}`]?.safeParse(manifest);
  if (result === undefined) {
    return undefined;
  }
  return result.error?.issues.map(({ path, message }) => `${manifest.kind}.${path.join('.')}: ${message}`) ?? [];
}

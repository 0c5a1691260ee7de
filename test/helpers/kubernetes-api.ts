import { readFileSync } from 'node:fs';
import { isObject } from '../../src/common/is-object.ts';

/**
 * The Kubernetes API's own types, for holding a manifest against them with no cluster: every object's fields, which are
 * required, and of what type. What OpenAPI does not say (that a port lies under 65536, say), this does not know either.
 */
export interface ApiTypes {
  readonly kubernetes: string;
  readonly models: Models;
}

/** By name. `npm run kubernetes:api` stores them. */
export type Models = Readonly<Record<string, Model>>;

type Model = Readonly<Record<string, { readonly required: boolean; readonly type: string }>>;

/** Lowest and highest supported: the lowest is what Chart.yaml's `kubeVersion` says. */
export const SUPPORTED = ['1.30', '1.36'] as const;

export const MODELS: Readonly<Record<string, string>> = {
  'v1/ConfigMap': 'V1ConfigMap',
  'v1/Pod': 'V1Pod',
  'v1/Secret': 'V1Secret',
  'v1/Service': 'V1Service',
  'v1/ServiceAccount': 'V1ServiceAccount',
  'apps/v1/Deployment': 'V1Deployment',
  'apps/v1/StatefulSet': 'V1StatefulSet',
  'autoscaling/v2/HorizontalPodAutoscaler': 'V2HorizontalPodAutoscaler',
  'batch/v1/Job': 'V1Job',
  'networking.k8s.io/v1/Ingress': 'V1Ingress',
  'networking.k8s.io/v1/NetworkPolicy': 'V1NetworkPolicy',
  'policy/v1/PodDisruptionBudget': 'V1PodDisruptionBudget',
};

export const KINDS: readonly string[] = Object.keys(MODELS);

export const fileOf = (kubernetes: (typeof SUPPORTED)[number]) =>
  new URL(`../chart/kubernetes-api/${kubernetes}.json`, import.meta.url);

export function apiTypes(kubernetes: (typeof SUPPORTED)[number]): ApiTypes {
  return { kubernetes, models: JSON.parse(readFileSync(fileOf(kubernetes), 'utf8')).models };
}

/** What is wrong with a manifest, a sentence for each fault. Unknown fields are faults. */
export function faultsOf(manifest: Readonly<Record<string, unknown>>, api: ApiTypes): string[] {
  const id = `${manifest['apiVersion']}/${manifest['kind']}`;
  const model = MODELS[id];
  if (model === undefined) {
    return [`${id}: no such object in Kubernetes ${api.kubernetes}`];
  }
  return check(manifest, model, String(manifest['kind']), api);
}

function check(value: unknown, type: string, at: string, api: ApiTypes): string[] {
  const list = /^Array<(.+)>$/.exec(type)?.[1];
  if (list !== undefined) {
    if (!Array.isArray(value)) {
      return [`${at}: must be a list`];
    }
    return value.flatMap((item, index) => check(item, list, `${at}[${index}]`, api));
  }
  const map = /^\{ ?\[key: string\]: (.+); ?\}$/.exec(type)?.[1];
  if (map !== undefined) {
    if (!isObject(value)) {
      return [`${at}: must be a map`];
    }
    return Object.entries(value).flatMap(([key, item]) => check(item, map, `${at}.${key}`, api));
  }
  const model = api.models[type];
  if (model !== undefined) {
    return checkModel(value, model, at, api);
  }
  return isPlain(value, type) ? [] : [`${at}: must be ${type}, is ${JSON.stringify(value)}`];
}

function checkModel(value: unknown, model: Model, at: string, api: ApiTypes): string[] {
  if (!isObject(value)) {
    return [`${at}: must be an object, is ${JSON.stringify(value)}`];
  }
  const faults: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    const field = model[key];
    if (field === undefined) {
      faults.push(`${at}.${key}: unknown field`);
    } else if (item === null) {
      faults.push(`${at}.${key}: is null`);
    } else {
      faults.push(...check(item, field.type, `${at}.${key}`, api));
    }
  }
  for (const [key, field] of Object.entries(model)) {
    if (field.required && !(key in value)) {
      faults.push(`${at}.${key}: is required`);
    }
  }
  return faults;
}

function isPlain(value: unknown, type: string): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'IntOrString':
      return typeof value === 'string' || Number.isInteger(value);
    case 'any':
      return true;
    case 'Date':
    case 'V1MicroTime':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value));
    default:
      throw new Error(`a type that the check does not know: ${type}`);
  }
}

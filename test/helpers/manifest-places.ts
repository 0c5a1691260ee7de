import type { Manifest } from './manifests.ts';

/** Values by their places in a release. */
export type Changes = Readonly<Record<string, unknown>>;
type Places = ReadonlyMap<string, { readonly object: string; readonly value: unknown }>;

export const ADDED = 'added';
export const REMOVED = 'removed';
/** Of a checksum: the pods are replaced. */
export const CHANGED = 'changed';
export const EMPTY = 'empty';
/** That every selector finds its own pods is held of all manifests. */
const SELECTING = /(?:selector|matchLabels)\.(?:name|instance|component)$/;
const GENERATED = /\b[A-Za-z0-9]{40}\b/g;

/** Places as short as they are clear: `door env.FORGE` is a variable of the door's container. */
const SHORTER = [
  ['gh-gatehouse-', ''],
  ['app.kubernetes.io/', ''],
  [/^Deployment\/(\w+)\.spec\.template\.spec\.containers\.\1\./, '$1 '],
  [/^Deployment\/(\w+)\.spec\.template\.spec\.initContainers\.migrate\./, '$1 migrate '],
  [/^Deployment\/(\w+)\.spec\.template\.(?:spec\.)?/, '$1 pod '],
  [/^Pod\/test-webhook\.spec\.containers\.webhook\./, 'test '],
  [/\.(?:value|valueFrom\.secretKeyRef)$/, ''],
] as const;

/** Every value in an object, by its place. What has a name is found by it, and not by its index. */
function leavesOf(value: unknown, place: string): [place: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) {
    return [[place, value]];
  }
  if (Object.keys(value).length === 0) {
    return [[place, EMPTY]];
  }
  if (place.endsWith('.secretKeyRef')) {
    const { name, key, optional } = value as Changes;
    return [[place, `${name}/${key}${optional === true ? ', optional' : ''}`]];
  }
  // An item with a space would hide how a command is cut.
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes(' '))) {
    return [[place, value.join(' ')]];
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const { name, ...others } = Object(item);
    return Array.isArray(value) && typeof name === 'string'
      ? leavesOf(others, `${place}.${name}`)
      : leavesOf(item, `${place}.${key}`);
  });
}

/** Of all objects, without the labels that each has. Keys that are generated look the same. */
function placesOf(manifests: readonly Manifest[]): Places {
  const all = manifests.flatMap(({ kind, metadata, apiVersion: _, data, ...parts }) => {
    const decode = (text: string) => (kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text);
    const entries = Object.entries(data ?? {}).map(([key, text]) => [key, decode(text).replaceAll(GENERATED, '*')]);
    const object = `${kind}/${metadata.name}`;
    const { annotations } = metadata;
    const whole = { ...parts, ...(annotations && { annotations }), ...(data && { data: Object.fromEntries(entries) }) };
    return [
      [object, ADDED] as const,
      ...Object.entries(whole).flatMap(([key, value]) => leavesOf(value, `${object}.${key}`)),
    ].map(([place, value]) => {
      const short = SHORTER.reduce((text, [long, shorter]) => text.replace(long, shorter), place);
      return [short, { object: object.replace('gh-gatehouse-', ''), value }] as const;
    });
  });
  return new Map(all.filter(([place]) => !SELECTING.test(place)));
}

/** What has another value, or is gone. Of an object that is gone, only that it is. */
export function changesBetween(one: readonly Manifest[], other: readonly Manifest[]): Changes {
  const [before, after] = [placesOf(one), placesOf(other)];
  const gone = [...before].filter(
    ([place, { object }]) => !after.has(place) && (place === object || after.has(object)),
  );
  const changed = [...after].filter(([place, { value }]) => before.get(place)?.value !== value);
  return Object.fromEntries([
    ...gone.map(([place]) => [place, REMOVED]),
    ...changed.map(([place, { value }]) => [place, place.includes('checksum/') ? CHANGED : value]),
  ]);
}

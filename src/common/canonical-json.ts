import { isObject } from './is-object.ts';

/** JSON for a digest: the same for the same data, in whatever order somebody built its objects. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))) : part,
  );
}

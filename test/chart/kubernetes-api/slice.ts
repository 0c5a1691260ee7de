/**
 * `npm run kubernetes:api`: takes the types of this project's objects, and all that these refer to, out of the type
 * declarations of Kubernetes' official JavaScript client, which are generated from Kubernetes' OpenAPI document. The client is
 * read from the npm registry, and is no dependency.
 */
import { writeFile } from 'node:fs/promises';
import { fileOf, MODELS, type Models, SUPPORTED } from '../../helpers/kubernetes-api.ts';
import { filesOf, type PinnedPackage } from '../../helpers/npm-package.ts';

const CLIENTS: Readonly<Record<(typeof SUPPORTED)[number], PinnedPackage>> = {
  '1.30': {
    spec: '@kubernetes/client-node@0.22.0',
    integrity: 'sha512-K86G5S/V+qMmg/Ht26CtEvTbedsD1u6RaYfIR4V4DphyNBLc3rY20mFNvXVE43MFbQrd5rDOvtOjTCsaVoBiEg==',
  },
  '1.36': {
    spec: '@kubernetes/client-node@2.0.1',
    integrity: 'sha512-evJgmEtgArEYlj6DNkMGjK41IrFK/hEwb5lWVxx0VRBWybQpnvi+2TtA19mLgVfRHfqX5yjHObX6e9W7LEZBjw==',
  },
};

const DECLARATION = /^dist\/gen\/models?\/(\w+)\.d\.ts$/;
const FIELD = /^ {4}'(\w+)'(\??): (\{[^}]+\}|[^;{]+(?:\{[^}]+\}[^;]*)?);$/gm;

if (import.meta.main) {
  for (const kubernetes of SUPPORTED) {
    const { spec } = CLIENTS[kubernetes];
    const models = reachable(await declared(kubernetes));
    const text = JSON.stringify({ license: 'Apache-2.0', from: spec, models }, null, 1);
    // A field a line.
    await writeFile(fileOf(kubernetes), `${text.replaceAll(/\{\s+("required".*)\s+(.*)\s+\}/g, '{ $1 $2 }')}\n`);
  }
}

/** All that the client for a release declares. */
async function declared(kubernetes: (typeof SUPPORTED)[number]): Promise<ReadonlyMap<string, Models[string]>> {
  const models = new Map<string, Models[string]>();
  for (const content of (await filesOf(CLIENTS[kubernetes], (path) => DECLARATION.test(path))).values()) {
    const text = content.toString('utf8');
    const name = /export declare class (\w+)/.exec(text)?.[1];
    const release = /OpenAPI (?:spec version|document): (?:release-)?v?([\d.]+)/.exec(text)?.[1];
    // The package still carries files of types that Kubernetes has since dropped.
    if (name === undefined || (release !== undefined && release !== kubernetes)) {
      continue;
    }
    const fields = [...text.matchAll(FIELD)].map(([, field = '', optional, type = '']) => {
      // Words that JavaScript reserves have an underscore before them: `_from`, `_default`.
      return [field.replace(/^_/, ''), { required: optional === '', type: type.replaceAll(/\s+/g, ' ') }] as const;
    });
    models.set(name, Object.fromEntries(fields));
  }
  return models;
}

function reachable(all: ReadonlyMap<string, Models[string]>): Models {
  const found = new Map<string, Models[string]>();
  const waiting = Object.values(MODELS);
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const model = all.get(name);
    if (model === undefined) {
      throw new Error(`the client does not declare ${name}`);
    }
    found.set(name, model);
    const named = Object.values(model).flatMap(({ type }) => type.match(/\w+/g) ?? []);
    waiting.push(...named.filter((other) => all.has(other) && !found.has(other)));
  }
  return Object.fromEntries([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ErrorObject } from 'ajv';
import { CACHE } from '../../helpers/npm-package.ts';
import type { Description, Schema } from './description.ts';

const require = createRequire(import.meta.url);

/** Returns the first rule that a value breaks, as `/base/sha must be string`; undefined when it is valid. */
export type Validate = (value: unknown) => string | undefined;

type Compiled = { (value: unknown): boolean; readonly errors?: readonly ErrorObject[] | null };

/**
 * A validator for each of the named schemas, which may refer to those of the description. Ajv needs a second for GitHub's, in every
 * process of tests. So what it compiles is stored once, as code, and loaded from there.
 */
export function makeValidators(
  { schemas }: Pick<Description, 'schemas'>,
  named: Readonly<Record<string, Schema>>,
): (name: string) => Validate | undefined {
  const names = Object.keys(named);
  const source = JSON.stringify({ schemas, named, versions: [readVersion('ajv'), readVersion('ajv-formats'), FORMAT] });
  const file = join(CACHE, `validators-${createHash('sha256').update(source).digest('hex').slice(0, 16)}.cjs`);
  let compiled: Readonly<Record<string, Compiled>> | undefined;
  return (name) => {
    const index = names.indexOf(name);
    if (index < 0) {
      return undefined;
    }
    return (value) => {
      compiled ??= load(file, () => compile(schemas, Object.values(named)));
      const validate = compiled[`check${index}`];
      return validate === undefined || validate(value) ? undefined : said(validate.errors?.[0]);
    };
  };
}

/** To be raised when {@link compile} changes. */
const FORMAT = 2;

function readVersion(name: string): string {
  return JSON.parse(readFileSync(require.resolve(`${name}/package.json`), 'utf8')).version;
}

function load(file: string, make: () => string): Readonly<Record<string, Compiled>> {
  if (!existsSync(file)) {
    mkdirSync(CACHE, { recursive: true });
    const own = `${file}.${randomUUID()}`;
    writeFileSync(own, make());
    // Whole or not at all: other processes may do the same.
    renameSync(own, file);
  }
  return require(file);
}

function compile(schemas: Description['schemas'], checks: readonly Schema[]): string {
  // Loaded here: most processes find the code.
  const { Ajv } = require('ajv') as typeof import('ajv');
  const { default: standalone } =
    require('ajv/dist/standalone/index.js') as typeof import('ajv/dist/standalone/index.js');
  const addFormats = require('ajv-formats') as typeof import('ajv-formats').default;
  const ajv = new Ajv({ strict: false, validateSchema: false, inlineRefs: false, code: { source: true } });
  addFormats(ajv, { mode: 'fast' });
  // Of Gitea's, and only a size in memory: its type and bounds are checked. Ajv would print a warning for each.
  ajv.addFormat('uint64', true);
  const named = Object.fromEntries(checks.map((schema, index) => [`check${index}`, schema]));
  ajv.addSchema({ $id: 'description', schemas, checks: named });
  const references = Object.keys(named).map((name) => [name, `description#/checks/${name}`]);
  return standalone(ajv, Object.fromEntries(references));
}

function said(error: ErrorObject | undefined): string {
  const { instancePath = '', message = 'is not valid', params = {} } = error ?? {};
  const about = ['additionalProperty', 'allowedValues', 'format'].flatMap((key) =>
    params[key] === undefined ? [] : [String(params[key])],
  );
  return [instancePath || '(all of it)', message, ...about].join(' ');
}

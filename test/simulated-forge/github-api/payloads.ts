import { readFileSync } from 'node:fs';
import { makeCompletion } from '../api/completion.ts';
import type { Schema } from '../api/description.ts';
import { makeValidators } from '../api/validators.ts';
import { type Version, WEBHOOKS_FILE } from './versions.ts';

/** All payloads of all versions. The versions repeat one another, so that each part is written once. */
export interface Payloads {
  readonly source: string;
  /** By version and the description's name of the payload, as in `pull-request-opened`; a reference to a schema. */
  readonly payloads: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

export function readPayloads(): Payloads {
  return JSON.parse(readFileSync(WEBHOOKS_FILE, 'utf8'));
}

const EVENTS =
  /^(?:pull-request|pull-request-review|issue-comment|push|ping|merge-group|status|check-run|check-suite)(?:-|$)/;

/**
 * The payloads `labeled` and `review-submitted` have null for a fork that was deleted, as the REST description of a pull request
 * has. Those of the other actions leave it out.
 */
const DELETED_FORK = /^\/pull_request\/head\/repo must be object$/;

/** A payload as this version of GitHub sends it: whole. Throws if it is none of its payloads, or not valid. */
export type CompletePayload = (event: string, payload: Readonly<Record<string, unknown>>) => object;

const made = new Map<Version, CompletePayload>();

export function completePayloads(version: Version): CompletePayload {
  const complete = made.get(version) ?? makeCompletePayload(version);
  made.set(version, complete);
  return complete;
}

function makeCompletePayload(version: Version): CompletePayload {
  const { payloads, schemas } = readPayloads();
  const known = Object.entries(payloads[version] ?? {}).filter(([name]) => EVENTS.test(name));
  const named: Readonly<Record<string, Schema>> = Object.fromEntries(known.map(([name, $ref]) => [name, { $ref }]));
  const validatorOf = makeValidators({ schemas }, named);
  const complete = makeCompletion(schemas);
  return (event, payload) => {
    const { action } = payload;
    const name = (typeof action === 'string' ? `${event}-${action}` : event).replaceAll('_', '-');
    const schema = named[name];
    if (schema === undefined) {
      throw new Error(`${version} describes no webhook ${name}`);
    }
    const { value, unknown } = complete(schema, payload);
    const fault = unknown.length > 0 ? `has the fields ${unknown}` : validatorOf(name)?.(value);
    if (fault !== undefined && !DELETED_FORK.test(fault)) {
      throw new Error(`webhook ${name} of ${version}: ${fault}`);
    }
    return value as object;
  };
}

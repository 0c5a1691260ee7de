import { createRequire } from 'node:module';

export interface Payload {
  readonly event: string;
  readonly body: Buffer;
}

interface EventExamples {
  readonly name: string;
  readonly examples: readonly object[];
}

const require = createRequire(import.meta.url);

/** Every example of a GitHub webhook payload, as published by octokit: 329 of them. */
export function payloads(): readonly Payload[] {
  const events: readonly EventExamples[] = require('@octokit/webhooks-examples/api.github.com/index.json');
  return events.flatMap(({ name, examples }) =>
    examples.map((example) => ({ event: name, body: Buffer.from(JSON.stringify(example)) })),
  );
}

/** A pull request being opened, as GitHub sends it. */
export function pullRequestOpened(): Payload {
  const found = payloads().find(({ event, body }) => event === 'pull_request' && body.includes('"action":"opened"'));
  if (found === undefined) {
    throw new Error('the examples have no opened pull request');
  }
  return found;
}

import { createHash, type Hash, randomUUID } from 'node:crypto';
import { payloads } from '../test/helpers/payloads.ts';

/** A request as it goes over the wire; `head` and `tail` are its own, `middle` is shared by all of its kind in its repository. */
export interface WireRequest {
  readonly head: string;
  readonly middle: Buffer;
  readonly tail: string;
}

const SHA256_BLOCK_BYTES = 64;
/** Always seven digits, so that every body of a kind has the same length. */
const FIRST_PULL_REQUEST = 1_000_000;
/** Each pull request is in another one than the pull request before it. */
const REPOSITORIES = 32;

interface Kind {
  readonly middle: Buffer;
  /** The inner hash of the HMAC, having read the key and `middle`. */
  readonly inner: Hash;
}

/**
 * GitHub's own examples of `pull_request` deliveries, as if from many repositories, each time with another delivery id, pull
 * request number and node id, and signed. The parts that differ are put last, where JSON allows them to be, and the HMAC of what comes
 * before is computed once: the generator must be far cheaper than what it measures.
 */
export function makeRequests(options: {
  readonly secret: string;
  readonly path: string;
  /** How many deliveries in a row are about one pull request. */
  readonly perPullRequest: number;
}): () => WireRequest {
  const { secret, path, perPullRequest } = options;
  const key = Buffer.alloc(SHA256_BLOCK_BYTES);
  key.write(secret);
  const outer = createHash('sha256').update(key.map((byte) => byte ^ 0x5c));
  const bodies = examples();
  const repositories = Array.from({ length: REPOSITORIES }, () => {
    const rename = renaming();
    return bodies.map((body): Kind => {
      const middle = Buffer.from(rename(body));
      const inner = createHash('sha256').update(key.map((byte) => byte ^ 0x36));
      return { middle, inner: inner.update(middle) };
    });
  });
  const first = FIRST_PULL_REQUEST + Math.floor(Math.random() * FIRST_PULL_REQUEST);
  let made = 0;

  return () => {
    const index = made++;
    const pullRequest = Math.floor(index / perPullRequest);
    const kind = repositories[pullRequest % REPOSITORIES]?.[index % bodies.length];
    if (kind === undefined) {
      throw new Error('no example payloads of pull_request were found');
    }
    const number = first + pullRequest;
    // Random, as those of forges: their place in an index is, too.
    const id = randomUUID();
    const tail = `,"node_id":"PR_${id}","number":${number}}}`;
    const digest = outer.copy().update(kind.inner.copy().update(tail).digest()).digest('hex');
    const head =
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: GitHub-Hookshot/0000000\r\nAccept: */*\r\n` +
      `Content-Type: application/json\r\nX-GitHub-Delivery: ${id}\r\nX-GitHub-Event: pull_request\r\n` +
      `X-GitHub-Hook-ID: 1\r\nX-GitHub-Hook-Installation-Target-ID: 1\r\n` +
      `X-GitHub-Hook-Installation-Target-Type: repository\r\nX-Hub-Signature-256: sha256=${digest}\r\n` +
      `Content-Length: ${kind.middle.length + tail.length}\r\n\r\n`;
    return { head, middle: kind.middle, tail };
  };
}

/** Without the last two braces, and without what {@link makeRequests} adds. */
function examples(): readonly string[] {
  return payloads()
    .filter(({ event }) => event === 'pull_request')
    .map(({ body }) => {
      const { pull_request, number: _number, ...rest } = JSON.parse(body.toString());
      const { number: _same, node_id: _id, ...pull } = pull_request;
      return JSON.stringify({ ...rest, pull_request: pull }).slice(0, -2);
    });
}

/** To an owner and a name as long as those of the examples, so that the bodies are as large as GitHub's. */
function renaming(): (body: string) => string {
  const owner = randomUUID().replaceAll('-', '').slice(0, 'Codertocat'.length);
  const name = randomUUID().replaceAll('-', '').slice(0, 'Hello-World'.length);
  return (body) => body.replaceAll('Codertocat', owner).replaceAll('Hello-World', name);
}

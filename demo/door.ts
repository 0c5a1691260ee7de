import type pg from 'pg';
import { payloads, pullRequestOpened } from '../test/helpers/payloads.ts';
import { signatureOf } from '../test/helpers/signature.ts';
import { answer, progress, request, say, title } from './show.ts';

export interface DoorParts {
  readonly origin: string;
  readonly metricsPort: number;
  readonly secret: string;
  readonly database: pg.Pool;
}

/** Shows what the door answers and stores. Throws when a result differs from what is shown. */
export async function showDoor({ origin, metricsPort, secret, database }: DoorParts): Promise<void> {
  const stored = async () => {
    const { rows } = await database.query<{ count: number }>('SELECT count(*)::int FROM gatehouse.deliveries');
    return rows[0]?.count ?? 0;
  };
  const { event, body } = pullRequestOpened();
  const before = await stored();

  title('4  A repeated delivery, and one with a wrong signature');
  request(`POST /webhook   X-Forge-Event: ${event}   ${(body.length / 1024).toFixed(1)} KiB, signed`);
  await deliver(origin, body, event, 'demo-1', secret, 200, 'answered after COMMIT, never before');
  request('POST /webhook   the same delivery again');
  await deliver(origin, body, event, 'demo-1', secret, 200, 'ignored: it is stored already');
  request('POST /webhook   signed with a wrong secret');
  await deliver(origin, body, event, 'demo-2', 'a guess at the secret', 401);
  const added = (await stored()) - before;
  say(`stored: ${added} delivery`);
  expect(added === 1, 'expected one of three deliveries to be stored');

  title('5  One example of every event that GitHub sends');
  say('They are about repositories that this forge does not have: nothing is reviewed.');
  const examples = payloads();
  let acknowledged = 0;
  for (const [index, example] of examples.entries()) {
    const response = await post(origin, example.body, example.event, `example-${index}`, secret);
    if (response.status === 200) {
      acknowledged += 1;
    }
    progress(index + 1, examples.length, 'payloads delivered');
  }
  const kept = (await stored()) - before - added;
  say(`acknowledged: ${acknowledged}, stored: ${kept}`);
  expect(
    acknowledged === examples.length && kept === acknowledged,
    'the acknowledged and the stored deliveries differ',
  );

  title('6  Health and metrics');
  request('GET /health');
  const health = await fetch(`${origin}/health`);
  answer(health.status, await health.text());
  expect(health.status === 200, '/health is not 200');
  const metricsUrl = `http://localhost:${metricsPort}/metrics`;
  request(`GET ${metricsUrl}`);
  const page = await (await fetch(metricsUrl)).text();
  const shown =
    /^(gatehouse_deliveries_total\{event="pull_request"|gatehouse_rejections_total\{reason="signature_mismatch"|gatehouse_commit_seconds_count|gatehouse_reviews_total|gatehouse_webhook_to_status_seconds_(count|sum))/;
  const lines = page.split('\n').filter((text) => shown.test(text));
  for (const line of lines) {
    say(line);
  }
  expect(lines.length > 3, 'metrics are missing');
}

/** Fails the demo when a step has another result than it shows. */
export function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) {
    throw new Error(`The demo failed: ${otherwise}.`);
  }
}

function post(origin: string, body: Buffer, event: string, id: string, key: string): Promise<Response> {
  return fetch(`${origin}/webhook`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Forge-Event': event,
      'X-Forge-Delivery': id,
      'X-Hub-Signature-256': signatureOf(body, key),
    },
    body: new Uint8Array(body),
  });
}

async function deliver(
  origin: string,
  body: Buffer,
  event: string,
  id: string,
  key: string,
  status: number,
  remark = '',
) {
  const response = await post(origin, body, event, id, key);
  answer(response.status, await response.text(), remark);
  expect(response.status === status, `expected the answer ${status}, got ${response.status}`);
}

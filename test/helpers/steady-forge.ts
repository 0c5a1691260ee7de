import { randomUUID } from 'node:crypto';
import { signatureOf } from './signature.ts';

const AT_ONCE = 4;
// Real forges pause between deliveries; without a pause, the sender would measure this machine.
const PAUSE_MS = 5;

export type SteadyForge = ReturnType<typeof startForge>;

/** A forge that sends signed deliveries one after another, several at a time, until it is stopped. */
export function startForge(url: string, secret: string) {
  const answers: Record<string, number> = {};
  let target = url;
  let key = secret;
  let sent = 0;
  let stopping = false;

  async function deliver(): Promise<void> {
    const body = JSON.stringify({ number: ++sent, zen: 'Keep it logically awesome.' });
    const answer = await fetch(target, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Forge-Event': 'ping',
        'X-Forge-Delivery': randomUUID(),
        'X-Hub-Signature-256': signatureOf(body, key),
      },
      body,
    }).then(
      async (response) => {
        await response.text();
        return String(response.status);
      },
      (error: unknown) => `none: ${error instanceof Error ? (error.cause ?? error) : error}`,
    );
    answers[answer] = (answers[answer] ?? 0) + 1;
  }

  async function sendSteadily(): Promise<void> {
    while (!stopping) {
      await deliver();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  const senders = Array.from({ length: AT_ONCE }, sendSteadily);
  return {
    /** Where the next deliveries go. What is under way goes on. */
    sendTo(url: string) {
      target = url;
    },
    signWith(secret: string) {
      key = secret;
    },
    async stop() {
      stopping = true;
      await Promise.all(senders);
    },
    /** How often which answer came: a status, or why there was none. */
    answers: (): Readonly<Record<string, number>> => answers,
    sent: (): number => sent,
  };
}

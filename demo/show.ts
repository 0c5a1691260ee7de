import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';

/** The demo's output. `styleText` uses colours only on a terminal that has them. */

const out = (line = '') => process.stdout.write(`${line}\n`);

const POLL_MS = 25;
const GIVE_UP_MS = 60_000;
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const SPIN_MS = 100;
const WIDEST = 100;
const NARROWEST = 50;
const MARGIN = 6;

/** Columns for wrapped text. Some terminals report 0. */
export function textWidth(): number {
  const columns = process.stdout.columns || WIDEST;
  return Math.max(NARROWEST, Math.min(columns, WIDEST)) - MARGIN;
}

export function title(text: string): void {
  out();
  out(styleText('bold', text));
}

export function say(text: string): void {
  out(`  ${text}`);
}

export function request(text: string): void {
  out(`  ${styleText('cyan', '→')} ${text}`);
}

export function answer(status: number, body: string, remark = ''): void {
  const colour = status < 400 ? 'green' : 'yellow';
  out(`  ${styleText(colour, `← ${status}`)} ${body}${remark && styleText('dim', `   ${remark}`)}`);
}

/** A progress bar on a terminal, and one finished line elsewhere. */
export function progress(done: number, total: number, what: string): void {
  const WIDTH = 30;
  const filled = Math.round((done / total) * WIDTH);
  const line = `  ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${done}/${total} ${what}`;
  if (process.stdout.isTTY) {
    process.stdout.write(`\r${line}${done === total ? '\n' : ''}`);
  } else if (done === total) {
    out(line);
  }
}

/** Waits until `look` finds something, and shows a spinner on a terminal. Throws after a time-out. */
export async function awaiting<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const start = performance.now();
  let shown = -1;
  for (;;) {
    const found = await look();
    const waited = performance.now() - start;
    if (found !== undefined) {
      if (shown >= 0) {
        process.stdout.write('\r\u001b[K');
      }
      return found;
    }
    if (waited > GIVE_UP_MS) {
      throw new Error(`${what} did not come within ${GIVE_UP_MS / 1_000} seconds`);
    }
    const turn = Math.floor(waited / SPIN_MS);
    if (process.stdout.isTTY && turn > shown) {
      process.stdout.write(`\r  ${SPINNER[turn % SPINNER.length]} waiting for ${what} … ${(turn / 10).toFixed(1)} s`);
      shown = turn;
    }
    await sleep(POLL_MS);
  }
}

const STATES: Readonly<Record<string, readonly ['green' | 'red' | 'yellow', string]>> = {
  success: ['green', '✔ success'],
  failure: ['red', '✘ failure'],
  error: ['red', '! error'],
  pending: ['yellow', '● pending'],
};

/** A commit status, as forges show it beside the button that merges. */
export function commitStatus(context: string, state: string, description: string): void {
  const [colour, mark] = STATES[state] ?? ['red', state];
  out(`  ${styleText(colour, mark.padEnd(9))}  ${styleText('bold', context)}  ${description}`);
}

/** Lines in a frame that is open to the right, so that none has to be cut. */
export function box(heading: string, lines: readonly string[]): void {
  const dim = (text: string) => styleText('dim', text);
  out();
  out(`  ${dim('╭─')} ${heading} ${dim('─'.repeat(Math.max(3, textWidth() - heading.length - 1)))}`);
  for (const line of lines) {
    out(`  ${dim('│')} ${line}`.trimEnd());
  }
  out(`  ${dim(`╰${'─'.repeat(textWidth() + 1)}`)}`);
}

export function command(text: string): void {
  out();
  out(text);
}

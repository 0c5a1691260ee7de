import { styleText } from 'node:util';

/** What a person sees of the demo. Colours only on a terminal that has them; styleText looks. */

const out = (line = '') => process.stdout.write(`${line}\n`);

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

/** A bar that grows in place on a terminal, and is one finished line elsewhere. */
export function progress(done: number, total: number, what: string): void {
  const WIDTH = 30;
  const filled = Math.round((done / total) * WIDTH);
  const line = `  ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${done}/${total} ${what}`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === total ? '\n' : ''}`);
  else if (done === total) out(line);
}

export function command(text: string): void {
  out();
  out(text);
}

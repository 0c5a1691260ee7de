import type { KillContender } from './kill-contenders.ts';
import type { KillPlan, KillResult } from './kill-round.ts';
import { format, table } from './table.ts';

/** The last section of docs/performance.md. */
const HEADING = '\n## Killed under load\n';

interface KillFigures {
  readonly command: string;
  readonly machine: string;
  readonly loads: readonly [string, string];
  /** With their versions, for people. */
  readonly stores: string;
  readonly rows: readonly { readonly contender: KillContender; readonly results: readonly KillResult[] }[];
  /** Why some were left out; empty when none were. */
  readonly leftOut: string;
}

/** The section of a page, with the heading; empty when it has none. */
export function killSectionOf(page: string): string {
  const at = page.indexOf(HEADING);
  return at < 0 ? '' : page.slice(at);
}

export function withKillSection(page: string, section: string): string {
  return page.slice(0, page.length - killSectionOf(page).length) + section;
}

export function renderKillSection(figures: KillFigures, plan: KillPlan): string {
  const { command, machine, loads, stores, leftOut } = figures;
  return `${HEADING}
Measured by \`${command}\`, which wrote this section: the server is killed with SIGKILL while webhooks arrive.

- **Machine:** ${machine}. Load average ${loads[0]} at the beginning, ${loads[1]} at the end.
- **Stores:** ${stores}. ${leftOut}
- **Load:** ${plan.perSecond} deliveries a second, each about another pull request and sent once, for ${plan.secondsBefore} s; then the kill, a new
  process at once, and ${plan.secondsAfter} s more. ${plan.rounds === 1 ? 'One kill' : `${plan.rounds} kills`} per row, added up. Deliveries arrive faster than they are processed.
- **Acknowledged:** answered 2xx. **Gone:** acknowledged, and never processed. **Refused:** any other
  answer, or none: the forge lists it as failed.

${killTable(figures)}

- **Koa and a queue in memory:** answers 200, then processes four at a time, each for 0.1 s.
- **Probot 14:** its middleware answers when the handler is done. After 9 s it answers 202 and continues
  in memory, as with handlers that wait for a rate limit (here 12 s).
- **Koa and BullMQ 6:** set up as BullMQ's guide *Going to production* says, with 3 attempts.
  Four jobs run at a time, each for 0.1 s. Answers 200 when \`queue.add\` has resolved. "As shipped" is Redis without a configuration, which
  saves a snapshot at most once a minute. The guide recommends \`appendfsync everysec\`.
- **Gatehouse:** \`serve --with-worker\`, its defaults. A delivery counts as processed when its exact bytes are stored and its pull request has
  its final status. The resync at the restart also reviews the refused ones.

SIGKILL ends a process, not the machine: in a power failure, Redis with \`everysec\` can lose more than here. PostgreSQL, like
\`appendfsync always\`, answers only when the disk has the data.
`;
}

function killTable({ rows }: KillFigures): string {
  const lines = rows.map(({ contender, results }) => {
    const sum = (figure: keyof KillResult) =>
      format(
        results.reduce((total, result) => total + result[figure], 0),
        0,
      );
    const { title, killedText } = contender;
    return [title, killedText, sum('sent'), sum('acknowledged'), `**${sum('gone')}**`, sum('refused')];
  });
  return table(['', 'Killed', 'Sent', 'Acknowledged', 'Gone', 'Refused'], [0, 1], lines);
}

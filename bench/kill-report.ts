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
Measured by \`${command}\`, which wrote this section: what happens to webhooks when the server is killed with SIGKILL while they arrive.

- **Machine:** ${machine}. Load average ${loads[0]} at the beginning, ${loads[1]} at the end.
- **Stores:** ${stores}. ${leftOut}
- **Load:** ${plan.perSecond} deliveries a second, each about another pull request and sent once, as GitHub and Gitea do. They last ${plan.secondsBefore} s, then comes the kill and a new
  process at once, and ${plan.secondsAfter} s more. ${plan.rounds === 1 ? 'One kill' : `${plan.rounds} kills`} for each row, added up. More arrives than is worked off, so that some wait at the kill.
- **Acknowledged:** answered 2xx. **Gone:** acknowledged, and neither processed before the kill nor after the restart. **Refused:** any other
  answer, or none: the forge lists it as failed, and it can be sent again.

${killTable(figures)}

- **Koa and a queue in memory:** signature checked, answered 200, four at a time. The work on a delivery takes 0.1 s. What waits at the kill is gone.
- **Probot 14:** its middleware answers when the handler is done, so what was acknowledged is done; what is being handled at the kill
  gets no answer. After 9 s it answers 202 and goes on in memory: that happens to handlers that wait for a rate limit, here for 12 s.
- **Koa and BullMQ 6:** set up as BullMQ's guide *Going to production* says: no offline queue behind the web server, 3 attempts with
  backoff, the default times for stalled jobs. Four jobs run at a time, each for 0.1 s. Answered 200 when \`queue.add\` has resolved. "As shipped" is Redis without a configuration: it
  saves a snapshot at most once a minute, so what was added since the last one is gone. The guide recommends \`appendfsync everysec\`.
- **Gatehouse:** \`serve --with-worker\`, its defaults. A delivery counts as processed when its exact bytes are stored and its pull request, on
  the simulated forge of the tests, has its final status. What was refused counts as refused, although the resync at the restart reviews those pull requests, too.

SIGKILL ends a process, not the machine: what a process has handed to the kernel survives. Redis with \`everysec\` can therefore lose more
in a power failure than here. PostgreSQL, as \`appendfsync always\`, answers only when the disk has the data.
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

import { CONTENDERS } from './contenders.ts';
import type { Figures } from './figures.ts';
import { TARGET_CONNECTIONS } from './plan.ts';

const WIDTH = 760;
const LABEL = 300;
const BAR = 26;
const GAP = 16;
const TOP = 44;
const FIGURE = 90;

/** Bars with whiskers from the least round to the most. Its colours suit a light page and a dark one. */
export function renderChart({ throughput, machine }: Figures): string {
  const bars = CONTENDERS.flatMap(({ name, title, durable }) => {
    const found = throughput.find((one) => one.name === name)?.perSecond.get(TARGET_CONNECTIONS);
    return found === undefined ? [] : [{ name, title: title.replaceAll(/[`*]/g, ''), durable, ...found }];
  });
  const most = Math.max(...bars.map((bar) => bar.most));
  const length = (value: number) => ((WIDTH - LABEL - FIGURE) * value) / most;
  const height = TOP + bars.length * (BAR + GAP) + 28;
  const drawn = bars.map(({ title, durable, name, median, least, most }, index) => {
    const y = TOP + index * (BAR + GAP);
    const middle = y + BAR / 2;
    const kind = name === 'gatehouse' ? 'ours' : durable ? 'kept' : 'lost';
    const end = LABEL + length(most);
    return `  <text x="${LABEL - 10}" y="${middle + 5}" text-anchor="end">${asText(title)}</text>
  <rect class="${kind}" x="${LABEL}" y="${y}" width="${length(median).toFixed(1)}" height="${BAR}" rx="3"/>
  <path class="whisker" d="M${(LABEL + length(least)).toFixed(1)} ${middle}H${end.toFixed(1)}"/>
  <text x="${(end + 8).toFixed(1)}" y="${middle + 5}">${Math.round(median).toLocaleString('en')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
  <title id="title">Acknowledged deliveries a second at ${TARGET_CONNECTIONS} connections</title>
  <style>
    text { font: 14px system-ui, sans-serif; fill: #24292f }
    .small { font-size: 12px; fill: #57606a }
    .lost { fill: #a8b1bb } .kept { fill: #6e9bd8 } .ours { fill: #2da44e }
    .whisker { stroke: #24292f; stroke-opacity: 0.55; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .small { fill: #9198a1 }
      .lost { fill: #57606a } .kept { fill: #4478bd } .ours { fill: #3fb950 }
      .whisker { stroke: #e6edf3 }
    }
  </style>
  <text x="0" y="18">Acknowledged deliveries a second, ${TARGET_CONNECTIONS} connections</text>
  <text class="small" x="0" y="35">grey: kept in memory only · blue and green: committed before the answer</text>
${drawn.join('\n')}
  <text class="small" x="0" y="${height - 8}">${asText(machine)}</text>
</svg>
`;
}

function asText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

import type { ReceivedSpan } from './collector.ts';

/** A trace as docs/operations.md has it: what caused what, when it began, and how long it took. */
export function drawTrace(spans: readonly ReceivedSpan[], root: ReceivedSpan): readonly string[] {
  const rows = [row(root, '', root.start), ...rowsBelow(spans, root, '', root.start)];
  const width = Math.max(...rows.map(({ label }) => label.length));
  return rows.map(({ label, times }) => `${label.padEnd(width)}  ${times}`);
}

/** The names of a drawing, without its lines and times. */
export function namesIn(drawing: readonly string[]): readonly string[] {
  return drawing.map((line) => line.replace(/^[ │├└─]*/, '').replace(/ {2,}.*$/, ''));
}

interface Row {
  readonly label: string;
  readonly times: string;
}

function row(span: ReceivedSpan, indent: string, begin: number): Row {
  const [from, took] = [span.start - begin, span.end - span.start].map((ms) => `${Math.round(ms)} ms`.padStart(7));
  const { 'http.response.status_code': status, 'gatehouse.attempt': attempt } = span.attributes;
  return { label: `${indent}${span.name}`, times: `${from} ${took}   ${status ?? `attempt ${attempt}`}` };
}

function rowsBelow(
  spans: readonly ReceivedSpan[],
  parent: ReceivedSpan,
  indent: string,
  begin: number,
): readonly Row[] {
  const children = spans
    .filter((span) => span.parent === parent.spanId)
    .sort((left, right) => left.start - right.start);
  return children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return [
      row(child, `${indent}${isLast ? '└─ ' : '├─ '}`, begin),
      ...rowsBelow(spans, child, `${indent}${isLast ? '   ' : '│  '}`, begin),
    ];
  });
}

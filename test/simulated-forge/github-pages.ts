import type { Answer, Call } from './routes.ts';

/** GitHub's lists: 30 a page unless asked for up to 100, and `Link` to the others. */
export function page(
  call: Call,
  items: readonly unknown[],
  wrap: (items: readonly unknown[]) => unknown = same,
): Answer {
  const size = Math.min(Number(call.query.get('per_page') ?? 30), 100);
  const number = Number(call.query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const links = [
    ...(number < last ? [link(call, number + 1, 'next'), link(call, last, 'last')] : []),
    ...(number > 1 ? [link(call, 1, 'first'), link(call, number - 1, 'prev')] : []),
  ];
  return {
    status: 200,
    body: wrap(items.slice((number - 1) * size, number * size)),
    headers: links.length > 0 ? { link: links.join(', ') } : {},
  };
}

/** Lists that go by cursor have no numbers and no last page. */
export function cursorPage(call: Call, items: readonly { id: number }[]): Answer {
  const size = Math.min(Number(call.query.get('per_page') ?? 30), 100);
  const cursor = call.query.get('cursor');
  const start = cursor === null ? 0 : items.findIndex((item) => String(item.id) === cursor);
  const next = items[start + size];
  const query = new URLSearchParams({ per_page: String(size), cursor: String(next?.id) });
  return {
    status: 200,
    body: items.slice(start, start + size),
    headers: next ? { link: `<${call.apiUrl}${call.path}?${query}>; rel="next"` } : {},
  };
}

function same(items: readonly unknown[]): unknown {
  return items;
}

function link(call: Call, number: number, relation: string): string {
  const query = new URLSearchParams(call.query);
  query.set('page', String(number));
  return `<${call.apiUrl}${call.path}?${query}>; rel="${relation}"`;
}

/** A series that a PromQL expression names, and what it is matched by. */
export interface SeriesUse {
  readonly series: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

const SELECTOR = /\b([a-z]\w*)\{([^}]*)\}/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;

/** Finds every series of an expression that is written with its matchers, as all of this project's are. */
export function seriesIn(expression: string): SeriesUse[] {
  return [...expression.matchAll(SELECTOR)].map(([, series = '', text = '']) => {
    const matchers = [...text.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => {
      return { label, operator, value };
    });
    return { series, matchers };
  });
}

/** The labels that an expression groups by. */
export function groupings(expression: string): string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
}

import { parser } from '@prometheus-io/lezer-promql';

/** A series that a PromQL expression names, and what it is matched by. */
export interface SeriesUse {
  readonly series: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** Grafana puts a duration in place of these. */
const GRAFANA_DURATION = /\$__(?:rate_)?interval/g;

export function seriesIn(expression: string): SeriesUse[] {
  return parse(expression, 'VectorSelector').map(({ node, textOf }) => {
    const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => ({
      label: textOf(matcher.getChild('LabelName')),
      operator: textOf(matcher.getChild('MatchOp')),
      value: textOf(matcher.getChild('StringLiteral')).slice(1, -1),
    }));
    return { series: textOf(node.getChild('Identifier')), matchers };
  });
}

/** The labels that an expression groups or joins by. */
export function groupings(expression: string): string[] {
  return parse(expression, 'GroupingLabels').flatMap(({ node, textOf }) => node.getChildren('LabelName').map(textOf));
}

/** The nodes of one kind, as Prometheus's own grammar finds them. */
function parse(expression: string, kind: string) {
  const text = expression.replaceAll(GRAFANA_DURATION, '5m');
  const textOf = (node: { readonly from: number; readonly to: number } | null) =>
    node === null ? '' : text.slice(node.from, node.to);
  const found: { readonly node: SyntaxNode; readonly textOf: typeof textOf }[] = [];
  parser.parse(text).iterate({
    enter({ node }) {
      if (node.type.isError) {
        throw new Error(`not PromQL at character ${node.from}: ${text}`);
      }
      if (node.name === kind) {
        found.push({ node, textOf });
      }
    },
  });
  return found;
}

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

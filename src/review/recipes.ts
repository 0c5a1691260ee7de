/** A rule of docs/cookbook.md, as it is written there. */
export interface Recipe {
  readonly title: string;
  /** One entry of a policy's `rules`. */
  readonly yaml: string;
}

/** The recipes of the cookbook that are one rule; those that are a whole policy are left out. */
export function recipesIn(cookbook: string): readonly Recipe[] {
  return cookbook.split(/^## /m).flatMap((section) => {
    const title = section.slice(0, section.indexOf('\n'));
    const [, yaml] = /^```yaml\n([\s\S]*?)^```$/m.exec(section) ?? [];
    return yaml?.startsWith('- id: ') ? [{ title, yaml }] : [];
  });
}

/** A policy with these rules. `above`: a comment for each. */
export function policyOf(recipes: readonly Recipe[], above: (recipe: Recipe) => readonly string[] = () => []): string {
  const rules = recipes.map((recipe) =>
    [...above(recipe).map((line) => `# ${line}`), ...recipe.yaml.trimEnd().split('\n')]
      .map((line) => (line === '' ? '' : `  ${line}`))
      .join('\n'),
  );
  return `version: 1\nrules:\n${rules.join('\n\n')}\n`;
}

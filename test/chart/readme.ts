/**
 * `npm run chart:readme`: writes the table of values in the chart's README from the comments in its values.yaml.
 * A comment that begins with `# --` describes the key on the next line.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { CHART, parseYaml } from '../helpers/manifests.ts';

const BEGIN = '<!-- values: written by `npm run chart:readme` -->';
const END = '<!-- /values -->';

export interface DocumentedValue {
  /** As `door.autoscaling.enabled`. */
  readonly path: string;
  readonly sentence: string;
}

export function documentedValues(valuesYaml: string): DocumentedValue[] {
  const documented: DocumentedValue[] = [];
  const parents: string[] = [];
  let sentence: string | undefined;
  for (const line of valuesYaml.split('\n')) {
    const comment = /^ *# -- (.+)$/.exec(line)?.[1];
    const [, indent = '', key] = /^( *)([A-Za-z]\w*):/.exec(line) ?? [];
    if (comment !== undefined) {
      sentence = comment;
    } else if (key !== undefined) {
      parents.length = indent.length / 2;
      parents.push(key);
      if (sentence !== undefined) {
        documented.push({ path: parents.join('.'), sentence });
      }
      sentence = undefined;
    }
  }
  return documented;
}

export function withValues(readme: string, valuesYaml: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) {
    throw new Error('the README has no place for the values');
  }
  return `${readme.slice(0, begin)}${BEGIN}\n\n${table(valuesYaml)}\n${readme.slice(end)}`;
}

function table(valuesYaml: string): string {
  const values = parseYaml(valuesYaml);
  const rows = documentedValues(valuesYaml).map(({ path, sentence }) => {
    const value = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], values);
    return `| \`${path}\` | \`${JSON.stringify(value)}\` | ${sentence.replaceAll('|', '\\|')} |\n`;
  });
  return `| Key | Default | What it is |\n|---|---|---|\n${rows.join('')}`;
}

if (import.meta.main) {
  const readme = `${CHART}README.md`;
  const values = await readFile(`${CHART}values.yaml`, 'utf8');
  await writeFile(readme, withValues(await readFile(readme, 'utf8'), values));
}

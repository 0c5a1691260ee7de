import { makePathTree, parsePathPattern } from '../../../src/review/matching/path-tree.ts';
import { compilePattern } from '../../../src/review/matching/pattern.ts';
import { makeWildcard } from '../../../src/review/matching/wildcard.ts';
import { readCodeOwners } from '../../../src/review/predicates/code-owners.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';

const segment = fc.array(fc.constantFrom('a', 'b', '🦊', '.', '*', '?'), { minLength: 1, maxLength: 4 });
const pathPattern = fc
  .tuple(
    fc.constantFrom('', '/'),
    fc.array(
      fc.oneof(
        segment.map((characters) => characters.join('')),
        fc.constant('**'),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    fc.constantFrom('', '/', '/**', '/*'),
  )
  .map(([start, segments, end]) => `${start}${segments.join('/')}${end}`);
const name = fc.array(fc.constantFrom('a', 'b', '🦊', '.'), { minLength: 1, maxLength: 4 });
const path = fc
  .array(
    name.map((characters) => characters.join('')),
    { minLength: 1, maxLength: 5 },
  )
  .map((names) => names.join('/'));
/** Some end, and some only begin, with a name that is no owner. */
const owners = fc.constantFrom<readonly string[]>(['@bob'], ['@carol', '@dan'], [], ['@bob', 'nobody'], ['nobody']);

/** A pattern of GitHub as one expression for the whole path. */
function naive(pattern: string): RegExp {
  const anchored = /\/./.test(pattern);
  const names = pattern.split('/').filter((part) => part !== '');
  const last = names.at(-1) ?? '';
  const expressions = names.map((part, index) => {
    if (part === '**') {
      return index === names.length - 1 ? '.+' : '(?:[^/]+/)*';
    }
    const within = part.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]');
    return index === names.length - 1 ? within : `${within}/`;
  });
  const start = anchored ? '' : '(?:[^/]+/)*';
  const below = pattern.endsWith('/') ? '/.+' : last === '*' && anchored ? '' : '(?:/.+)?';
  return new RegExp(`^${start}${expressions.join('')}${last === '**' ? '' : below}$`, 'u');
}

test('GitHub: owners are those of comparing each line with the whole path', (t) => {
  const file = fc.array(fc.tuple(pathPattern, owners), { maxLength: 12 });
  fc.assert(
    fc.property(file, fc.array(path, { minLength: 1, maxLength: 12 }), (lines, paths) => {
      const read = readCodeOwners(lines.map(([pattern, names]) => [pattern, ...names].join(' ')).join('\n'), 'github');
      const found = read.kind === 'read' ? read.ownersOfEach(paths) : [];
      for (const [index, of] of paths.entries()) {
        const matching = lines.filter(([pattern]) => naive(pattern).test(of)).toReversed();
        const certain = matching.findIndex(([, names]) => !names.includes('nobody'));
        const counting = certain === -1 ? matching : matching.slice(0, certain + 1);
        const wanted = counting.map(([, names]) => names.filter((owner) => owner !== 'nobody'));
        t.deepEqual(
          (found[index] ?? []).map((owned) => owned.owners).filter((names) => names.length > 0),
          wanted.filter((names) => names.length > 0),
          of,
        );
        const needsSomebody = counting.some(([, names]) => names.length > 0);
        t.is((found[index] ?? []).length > 0, needsSomebody, of);
      }
    }),
    { numRuns: sized(250, 1_000) },
  );
});

test('Gitea and Forgejo: owners are those of every line whose expression matches', (t) => {
  const part = fc.constantFrom('a', 'b', '/', '.*', '.', 'a*', '(a|b)', '[ab]', '\\.', 'a/', 'b/', 'b?', '|', 'a{2}');
  const expression = fc
    .tuple(fc.constantFrom('', '!'), fc.constantFrom('a', 'b', '.*', '(a|b)'), fc.array(part, { maxLength: 5 }))
    .map(([negation, first, parts]) => ({ negated: negation === '!', source: first + parts.join('') }))
    .filter(({ source }) => !/[*+?}][*+?{]|[|(][*?{]/.test(source));
  const odd = path.chain((of) => fc.constantFrom(of, `${of}\n`, of.replaceAll('/', '\n/')));
  fc.assert(
    fc.property(
      fc.constantFrom('gitea' as const, 'forgejo' as const),
      fc.array(expression, { maxLength: 8 }),
      fc.array(odd, { minLength: 1, maxLength: 8 }),
      (dialect, lines, paths) => {
        const written = lines.map(
          ({ negated, source }, index) => `${negated ? '!' : ''}${source.replaceAll('\\', '\\\\')} @o${index}`,
        );
        const read = readCodeOwners(written.join('\n'), dialect);
        const found = read.kind === 'read' ? read.ownersOfEach(paths) : [];
        for (const [index, of] of paths.entries()) {
          const wanted = lines.flatMap(({ negated, source }, line) => {
            // Of the same meaning in the engine that every expression can be given to.
            const whole = dialect === 'gitea' ? `^${source.replace(/\$$/, '')}\\n?\\z` : `^${source}$`;
            return compilePattern(whole).found(of) === negated ? [] : [`@o${line}`];
          });
          t.deepEqual((found[index] ?? []).flatMap((owned) => owned.owners).toSorted(), wanted.toSorted(), of);
        }
      },
    ),
    { numRuns: sized(250, 1_000) },
  );
});

test('a path is compared with few of many patterns, and a name once', (t) => {
  let compared = 0;
  const tree = makePathTree((tokens) => {
    const matches = makeWildcard(tokens);
    return (text) => {
      compared += 1;
      return matches(text);
    };
  });
  for (let line = 0; line < 5_000; line += 1) {
    const written = [`/area${line}/*.ts`, `/area${line}/src/`, `*.ext${line % 7}`][line % 3] ?? '';
    const pattern = parsePathPattern(written);
    t.truthy(pattern);
    if (pattern !== undefined) {
      tree.add(pattern, line, true);
    }
  }
  const paths = Array.from({ length: 3_000 }, (_, index) => `area${index}/src/${index % 10}.ts`);
  const found = tree.matching(paths);
  t.is(found.filter((lines) => lines.length > 0).length, 1_000);
  // Each of 3,011 names with seven wildcards for every folder, and a name in a folder with its one.
  t.true(compared <= 3_011 * 7 + 3_000, String(compared));
});

import { readCodeOwners } from '../../src/review/predicates/code-owners.ts';
import { MAIN, type Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { clientOf, onBothForges, refOf } from './forges.ts';

const both = onBothForges(test);

/** A pattern, a path, and whether Gitea gives it to the owner. */
const CASES: readonly (readonly [pattern: string, path: string, owned: boolean])[] = [
  ['/docs/.*', 'docs/a', true],
  ['/docs/.*', 'src/a', false],
  ['!/docs/.*', 'docs/a', false],
  ['!/docs/.*', 'src/a', true],
  ['src/\\w+\\.go', 'src/fü.go', true],
  ['!src/\\w+\\.go', 'src/fü.go', false],
  ['src/\\W+', 'src/ü', false],
  ['src/\\d', 'src/٣', true],
  ['a[^\\s]b', 'a\u2003b', false],
  ['*.js', 'src/a.js', true],
  ['a|b', 'xb', true],
  ['a|b', 'bx', false],
  ['a{02}', 'aa', true],
];

/** Asked of each pull request, which shows that Gitea has read the file. */
const ALWAYS = '!nothing @gatehouse';

both('Gatehouse takes for the owners whom Gitea asks for a review', async (t, forge) => {
  const client = clientOf(t, forge);
  const site = await forge.site();
  for (const [index, [pattern, path, owned]] of CASES.entries()) {
    const text = `${pattern.replaceAll('\\', '\\\\')} @bob\n${ALWAYS}\n`;
    const wanted = owned ? ['@bob', '@gatehouse'] : ['@gatehouse'];
    const read = readCodeOwners(text, 'gitea');
    const owners = read.kind === 'read' ? (read.ownersOfEach([path])[0] ?? []).flatMap((one) => one.owners) : [];
    t.deepEqual(owners.toSorted(), wanted, `Gatehouse: ${pattern} ${path}`);
    if (forge.kind !== 'simulated') {
      t.deepEqual(await askedOf(site, `topic-${index}`, path, text), wanted, `Gitea: ${pattern} ${path}`);
    }
  }

  /** Whom the forge asks for a review of that path. The simulated one asks nobody. */
  async function askedOf(of: Site, branch: string, path: string, text: string): Promise<readonly string[]> {
    await of.push(MAIN, { CODEOWNERS: text });
    await of.push(branch, { [path]: 'new\n' });
    const ref = refOf(of, await of.open(branch));
    const asked = async () => (await client.requestedReviews(ref)).people;
    await until(async () => (await asked()).includes('gatehouse'));
    return (await asked()).map((login) => `@${login}`).toSorted();
  }
});

import { releaseChangelog } from '../../release/version.ts';
import test from '../helpers/test.ts';

const DAY = '2026-11-21';

test('what was unreleased goes under the version, above older releases', (t) => {
  const before = '# Changelog\n\n## Unreleased\n\n### Added\n\n- New.\n\n## 0.0.9 - 2026-01-02\n\n- Old.\n';
  const after = releaseChangelog(before, '0.2.0', DAY);
  t.is(after, before.replace('## Unreleased\n', `## Unreleased\n\n## 0.2.0 - ${DAY}\n`));
  t.throws(() => releaseChangelog(after, '0.3.0', DAY), { message: /lists no change/ });
  t.throws(() => releaseChangelog(before, '0.0.9', DAY), { message: /has a section for 0\.0\.9/ });
});

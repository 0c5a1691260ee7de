import test from 'ava';
import { FORGES, shareStories } from '../helpers/story.ts';

const gatehouse = shareStories(test);

const NO_DEBUGGING = `version: 1
rules:
  - id: no-debugging
    forbid: { added_lines: debugger, in: '**/*.ts' }
  - id: small
    require: { changed_lines: '<= 5' }
`;

/** Enough alike that every forge sees a rename. */
const LINES = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join('');

for (const name of FORGES) {
  test(`${name}: a NUL byte in a text file never hides its lines from a rule`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_DEBUGGING });
    const number = await scene.open({ 'src/a.ts': 'debugger\n// \0\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /src\/a\.ts/);
  });

  test(`${name}: a renamed file with a NUL byte never hides its lines from a rule`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_DEBUGGING, 'src/old.ts': `\0${LINES}` });
    const number = await scene.open({ 'src/old.ts': null, 'src/new.ts': `\0${LINES}debugger\n` });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
  });
}

import test from '../helpers/test.ts';
import { onBothForges } from './forges.ts';
import { ownGatehouse, shareGatehouse } from './gatehouse.ts';
import { OURS } from './reading.ts';

/** What docs/operations.md says under "Unblock merges when Gatehouse is down". */
const both = onBothForges(test);
const enforcing = shareGatehouse(test);

const NO_DEBUGGER = `version: 1
rules:
  - id: no-debugger
    forbid: { added_lines: 'debugger', in: ['**/*.ts'] }
`;
const BAD = { 'app.ts': 'one\ndebugger\n' };

both('a merge is possible once the status is no longer required', async (t, forge) => {
  const gatehouse = await enforcing(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.protect('main', 'gatehouse/main');
  const sha = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'failure');
  t.false(await site.mergeByButton(number));
  await site.stopRequiring('main');
  t.true(await site.mergeByButton(number));
});

both('ENFORCE=false lets a failing pull request merge under branch protection', async (t, forge) => {
  const gatehouse = await ownGatehouse(t, forge, { ENFORCE: 'false' });
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.protect('main', 'gatehouse/main');
  const sha = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'success');
  t.is((await site.status(sha, OURS))?.description, 'Not enforced: 1 rule would fail: no-debugger');
  t.true(await site.mergeByButton(number));
});

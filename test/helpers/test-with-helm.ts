import { helmIsMissing } from './helm.ts';
import test from './test.ts';

const missing = await helmIsMissing();
if (missing !== undefined) {
  process.stderr.write(`the tests that need helm are left out, because ${missing}\n`);
}

/** Without helm, the run says which tests it has skipped, and why. */
const declare = missing === undefined ? test : test.skip;

export { declare as test };

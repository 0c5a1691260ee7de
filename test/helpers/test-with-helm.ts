import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ava from 'ava';
import { helmIsMissing } from './helm.ts';

const missing = await helmIsMissing();
if (missing !== undefined) {
  const file = relative(fileURLToPath(new URL('../..', import.meta.url)), fileURLToPath(ava.meta.file));
  process.stderr.write(`the tests of ${file} that need helm are left out, because ${missing}\n`);
}

/** AVA's `test`, where there is helm. Without a network there may be none. */
export const test = missing === undefined ? ava : ava.skip;

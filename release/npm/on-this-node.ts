/** What every program of the npm package does first. An older Node ends here: npm only warns of it. */
import { join } from 'node:path';
import '../../src/oldest-node.cjs';

/** Runs a program, which imports what it needs only now: Node's compile cache is open. */
export async function onThisNode(run: () => Promise<void>): Promise<void> {
  // Only now: an older Node would fail to link it before it is refused.
  const { keepCompiled } = await import('../../src/common/compile-cache.ts');
  // A hook waits for it. Beside the program, and not in the folder for temporary files, where others could write.
  keepCompiled(join(import.meta.dirname, '.compiled'), process.env);
  await run();
}

/** What every program of the npm package does first. */
import { join } from 'node:path';
import { keepCompiled } from '../../src/common/compile-cache.ts';
import { OLDEST_NODE } from './oldest-node.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split('.').map(Number);

/** Runs a program, which imports what it needs only now: Node's compile cache is open. An older Node is refused. */
export async function onThisNode(program: string, run: () => Promise<void>): Promise<void> {
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    // npm only warns of it.
    process.stderr.write(`${program} needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}\n`);
    process.exitCode = 78;
    return;
  }
  // A hook waits for it. Beside the program, and not in the folder for temporary files, where others could write.
  keepCompiled(join(import.meta.dirname, '.compiled'), process.env);
  await run();
}

#!/usr/bin/env node
/** The program of the npm package: the commands that need no store. */
import { join } from 'node:path';
import { keepCompiled } from '../../src/common/compile-cache.ts';
import { OLDEST_NODE } from './oldest-node.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split('.').map(Number);

if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  // npm only warns of it.
  process.stderr.write(`gatehouse needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}\n`);
  process.exitCode = 78;
} else {
  // A hook waits for it. Beside the program, and not in the folder for temporary files, where others could write.
  keepCompiled(join(import.meta.dirname, '.compiled'), process.env);
  const { POLICY_COMMANDS } = await import('../../src/commands/policy-commands.ts');
  const { runProgram } = await import('../../src/commands/program.ts');
  await runProgram(POLICY_COMMANDS, process.argv.slice(2), '.');
}

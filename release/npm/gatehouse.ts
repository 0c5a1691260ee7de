#!/usr/bin/env node
/** The program `gatehouse` of the npm package: the commands for policies, which need no store. */
import { join } from 'node:path';
// An older Node ends here: npm only warns of it.
import '../../src/oldest-node.cjs';

// The rest is loaded only now: an older Node would fail to link it before it is refused.
const { keepCompiled } = await import('../../src/common/compile-cache.ts');
// A hook waits for it. Beside the program, and not in the folder for temporary files, where others could write.
keepCompiled(join(import.meta.dirname, '.compiled'), process.env);
const { POLICY_COMMANDS } = await import('../../src/commands/policy-commands.ts');
const { runProgram } = await import('../../src/commands/program.ts');
await runProgram(POLICY_COMMANDS, process.argv.slice(2), '.');

#!/usr/bin/env node
/** The program `gatehouse` of the npm package: the commands that need no store. */
import { onThisNode } from './on-this-node.ts';

await onThisNode(async () => {
  const { POLICY_COMMANDS } = await import('../../src/commands/policy-commands.ts');
  const { runProgram } = await import('../../src/commands/program.ts');
  await runProgram(POLICY_COMMANDS, process.argv.slice(2), '.');
});

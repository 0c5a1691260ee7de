#!/usr/bin/env node
import { dirname } from 'node:path';
import { runProgram } from './commands/program.ts';
import { COMMANDS } from './commands/table.ts';

/**
 * Where the relative paths of the command line begin. npm runs Gatehouse's scripts in Gatehouse's own folder, and sets
 * INIT_CWD to the folder that it was called from. In any other folder the variable comes from another project's script.
 */
function callersFolder(): string {
  const ownFolder = process.cwd() === dirname(import.meta.dirname);
  return (ownFolder ? process.env['INIT_CWD'] : undefined) ?? '.';
}

await runProgram(COMMANDS, process.argv.slice(2), callersFolder());

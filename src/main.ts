#!/usr/bin/env node
import { dirname, join } from 'node:path';
import { keepCompiled } from './common/compile-cache.ts';

const ROOT = dirname(import.meta.dirname);

/**
 * Where the relative paths of the command line begin. npm runs Gatehouse's scripts in Gatehouse's own folder, and sets
 * INIT_CWD to the folder that it was called from. In any other folder the variable comes from another project's script.
 */
function callersFolder(): string {
  const ownFolder = process.cwd() === ROOT;
  return (ownFolder ? process.env['INIT_CWD'] : undefined) ?? '.';
}

// Before anything else is imported. The image's own user cannot write there: its processes have no cache.
keepCompiled(join(ROOT, 'node_modules/.cache/compiled'), process.env);
const { COMMANDS } = await import('./commands/table.ts');
const { runProgram } = await import('./commands/program.ts');
await runProgram(COMMANDS, process.argv.slice(2), callersFolder());

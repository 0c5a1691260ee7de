#!/usr/bin/env node
// Plain JavaScript: an older Node refuses a .ts file with a stack, and would never say which Node it takes.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './oldest-node.cjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const { keepCompiled } = await import('./common/compile-cache.ts');
// Before anything else is imported. The image's own user cannot write there: its processes have no cache.
keepCompiled(join(ROOT, 'node_modules/.cache/compiled'), process.env);
const { COMMANDS } = await import('./commands/table.ts');
const { runProgram } = await import('./commands/program.ts');
// Where relative paths begin. npm runs Gatehouse's scripts in Gatehouse's own folder, and sets INIT_CWD to the folder
// that it was called from. In any other folder the variable comes from another project's script.
const callersFolder = process.cwd() === ROOT ? process.env['INIT_CWD'] : undefined;
await runProgram(COMMANDS, process.argv.slice(2), callersFolder ?? '.');

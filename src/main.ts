#!/usr/bin/env node
import { dirname, join } from 'node:path';
import { callersFolder } from './commands/callers-folder.ts';
import { keepCompiled } from './common/compile-cache.ts';

const ROOT = dirname(import.meta.dirname);

// Before anything else is imported. The image's own user cannot write there: its processes have no cache.
keepCompiled(join(ROOT, 'node_modules/.cache/compiled'), process.env);
const { COMMANDS } = await import('./commands/table.ts');
const { runProgram } = await import('./commands/program.ts');
await runProgram(COMMANDS, process.argv.slice(2), callersFolder(ROOT, process.cwd(), process.env));

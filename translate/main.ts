#!/usr/bin/env node
/** `npm run translate -- <kind> <file>`: `gatehouse-translate` in a clone. */
import { dirname } from 'node:path';
import { callersFolder } from '../src/commands/callers-folder.ts';
import { runAlone } from '../src/commands/program.ts';
import { translate } from './translate.ts';

const folder = callersFolder(dirname(import.meta.dirname), process.cwd(), process.env);
await runAlone(translate, process.argv.slice(2), folder);

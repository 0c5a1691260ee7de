#!/usr/bin/env node
/** The program `gatehouse-translate` of the npm package. */
import { onThisNode } from './on-this-node.ts';

await onThisNode(async () => {
  const { runAlone } = await import('../../src/commands/program.ts');
  const { translate } = await import('../../translate/translate.ts');
  await runAlone(translate, process.argv.slice(2), '.');
});

import { readFile } from 'node:fs/promises';
import { SETTINGS } from '../../src/config/config.ts';
import { FORGES } from '../../src/forges/port/forges.ts';
import test from '../helpers/test.ts';

const page = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8');

/** The rows of the table below a heading: a variable, and what stands under Default. */
function rowsBelow(heading: string): readonly (readonly [variable: string, byDefault: string])[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([A-Z_]+)` \| (.*?) ?\| .* \|$/gm)].map(([, name = '', byDefault = '']) => [
    name,
    byDefault,
  ]);
}

const SECTIONS = {
  'Every process': SETTINGS.common,
  'The door': SETTINGS.door,
  'The worker': SETTINGS.worker,
  'The forge': SETTINGS.access,
} as const;

for (const [heading, shape] of Object.entries(SECTIONS)) {
  test(`docs/settings.md, ${heading}: the variables are those of the code, in its order`, (t) => {
    t.deepEqual(
      rowsBelow(heading).map(([name]) => name),
      Object.keys(shape),
    );
  });

  test(`docs/settings.md, ${heading}: the defaults are those of the code`, (t) => {
    for (const [name, byDefault] of rowsBelow(heading)) {
      const schema = Object.entries(shape).find(([key]) => key === name)?.[1];
      const absent = schema?.safeParse(undefined);
      const [, written] = /^`(.+)`$/.exec(byDefault) ?? [];
      if (byDefault === 'required') {
        t.false(absent?.success, name);
      } else if (byDefault === '') {
        t.deepEqual(absent, { success: true, data: undefined }, name);
      } else {
        t.truthy(written, `${name}: write a default as code, or nothing`);
        t.deepEqual(schema?.parse(written), absent?.data, name);
      }
    }
  });
}

test('docs/settings.md has no other variable, and no other table of variables', (t) => {
  const all = [...page.matchAll(/^\| `([^`]*)`/gm)].map(([, name]) => name);
  t.deepEqual(
    all,
    Object.values(SECTIONS).flatMap((shape) => Object.keys(shape)),
  );
});

test('docs/settings.md says when the forge’s variables are required', (t) => {
  const about = (name: string) => new RegExp(`^\\| \`${name}\` .*$`, 'm').exec(page)?.[0] ?? '';
  t.regex(about('FORGE_URL'), /required for Gitea and Forgejo/);
  t.true(about('FORGE_URL').includes(`is \`${FORGES.github.defaultUrl}\` if it is absent`));
  t.regex(about('FORGE_TOKEN'), /required without an App/);
  t.regex(about('GITHUB_APP_PRIVATE_KEY'), /required with `GITHUB_APP_ID`/);
});

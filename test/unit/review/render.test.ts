import MarkdownIt from 'markdown-it';
import { RE2JS } from 're2js';
import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf } from '../../../src/facts/table.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { REVIEW_MARKER, renderReview } from '../../../src/review/rendering/comment.ts';
import { findingMarker, fingerprintIn, renderInlines } from '../../../src/review/rendering/inline.ts';
import { linksOf } from '../../../src/review/rendering/links.ts';
import { code, codeInCell, prose, proseInCell } from '../../../src/review/rendering/markdown.ts';
import { explain } from '../../../src/review/rendering/terminal.ts';
import { visible } from '../../../src/review/text.ts';
import { brokenPolicyVerdict, type Verdict, verdictOf, withProposedPolicyFaults } from '../../../src/review/verdict.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { policyOf, verdict } from './judge.ts';

const POLICY = String.raw`version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
    message: Titles become the changelog.
  - id: no-debugging
    forbid: { added_lines: '\bdebugger\b', in: ['**/*.ts'] }
  - id: reviewed
    require:
      any:
        - approvals: { from: ['@octo/core'], fresh: true }
        - label: waived
  - { id: tested, level: warn, require: { files: 'test/**' } }
  - { id: ready, require: { draft: false } }
`;
const given: Given = {
  title: 'something',
  files: [{ path: 'src/a.ts', added: ['debugger;', 'fine', '  debugger'] }],
  reviews: [{ author: 'bob', at: 'old' }],
  teams: { 'octo/core': ['bob'] },
};

const REPOSITORY = 'https://forge.test/octo/example';
const links = linksOf('gitea', pullRequestOf(), { baseSha: 'a'.repeat(40), policyDigest: 'd' });
const comment = (of: Verdict) => renderReview(of, { links, enforce: true });

test('the comment shows what to fix and what waits, and folds the rules away', (t) => {
  t.snapshot(comment(verdict(POLICY, given)));
});

/** What is said of a policy of these rules. */
const ruled = (rules: string, from: Given = {}) => comment(verdict(`version: 1\nrules: [${rules}]`, from));

test('a rule that is broken at lines links to them, file by file', (t) => {
  const files = [
    { path: 'a.ts', added: ['debugger', 'x', 'debugger'] },
    { path: 'b.ts', added: ['debugger'] },
  ];
  const at = (path: string, line: number) => `[${line}](${REPOSITORY}/src/commit/${'b'.repeat(40)}/${path}#L${line})`;
  const places = `\`a.ts\` ${at('a.ts', 1)}, ${at('a.ts', 3)}<br>\`b.ts\` ${at('b.ts', 1)}`;
  const said = ruled('{ id: a, forbid: { added_lines: debugger }, message: Remove it. }', { files });
  const row = `| ❌ | Change or remove the lines that match \`debugger\`. | 3 added lines match<br>${places} | \`a\`<br>Remove it. |`;
  t.true(said.includes(`\n${row}\n`), said);
});

test('a line that breaks a rule is quoted in no comment, for it may be a secret', (t) => {
  const of = verdict("version: 1\nrules: [{ id: a, forbid: { added_lines: 'KEY=' } }]", {
    files: [{ path: 'a.ts', added: ['KEY=hunter2'] }],
  });
  for (const body of [comment(of), ...renderInlines(of).map((inline) => inline.body)]) {
    t.notRegex(body, /hunter2/);
  }
});

test('an example is shown beside what the author has to match', (t) => {
  const rule = (body: string) => ruled(`{ id: a, ${body} }`, { title: 'x' });
  t.regex(
    rule(`require: { title: '^feat: ' }, example: 'feat: a door'`),
    /\| Change the title to match ` \^feat: {2}`\. For example: `feat: a door`\. \| The title `x` \|/,
  );
  t.regex(
    rule(`require: { branch: 'feat/*' }, example: feat/door`),
    /matches `feat\/\*`, and .* from there\. For example: `feat\/door`\. \|/,
  );
  t.regex(rule(`require: { title: '^feat: ' }`), /match ` \^feat: {2}`\. \|/);
});

test('a long regular expression is cut in the table, and whole only in what is folded away', (t) => {
  const long = (start: string) => `${start}${'x'.repeat(60)}END`;
  const rules = ['title', 'body', 'added_lines'].flatMap((name) =>
    ['require', 'forbid'].map(
      (kind) => `{ id: ${name}-${kind}, ${kind}: { ${name}: ['${long(kind === 'forbid' ? '.*|' : '')}', b] } }`,
    ),
  );
  const commits = `{ id: commits, require: { commits: { every: { message: '${long('')}' } } } }`;
  const of = verdict(`version: 1\nrules: [${[...rules, commits].join(', ')}]`, {
    files: [{ path: 'a.ts', added: ['y'] }],
    commits: [{ message: 'y' }],
  });
  t.is(of.findings.length, 7);
  const [shown = '', folded = ''] = comment(of).split('<details>');
  t.regex(shown, /x{20,}…`/);
  t.notRegex(shown, /END/);
  t.is(folded.match(/END/g)?.length, 7);
});

test('what waits for others is shown apart, with the way that the author has', (t) => {
  const ways = 'any: [{ approvals: { from: [bob] } }, { label: waived }]';
  const body = ruled(`{ id: a, require: { title: never, ${ways} } }`);
  t.regex(body, /^### ❌ 1 problem to fix$/m);
  t.regex(body, /^\| ❌ \| Change the title to match `never`\. \| The title `feat: a title` \| `a` \|$/m);
  t.regex(
    body,
    /^\| ⏳ \| Ask for 1 approval from `bob`\.<br>\*or:\* Add the label `waived`\. \| No approval that counts \| `a` \|$/m,
  );
});

test("links are encoded, and made only of the forge's own addresses", (t) => {
  const head = 'b'.repeat(40);
  const path = 'a b/(c)[d]|`e`\\<f>*_~\u202e#?%é.ts';
  const url = links.place(path, 3) ?? '';
  t.regex(url, new RegExp(`^${REPOSITORY}/src/commit/${head}/[A-Za-z0-9%./-]+#L3$`));
  t.is(decodeURIComponent(new URL(url).pathname), `/octo/example/src/commit/${head}/${path}`);
  for (const odd of ['../x', 'a/../b', './a', '/etc/passwd', 'a//b', '']) {
    t.is(links.place(odd), undefined, odd);
  }
  t.is(linksOf('github', pullRequestOf(), { baseSha: head, policyDigest: 'd' }).place('a'), undefined, 'not its URL');
  const source = { path: '.gatehouse.yml', line: 2 };
  t.is(links.rule(source), `${REPOSITORY}/src/commit/${'a'.repeat(40)}/.gatehouse.yml#L2`);
  t.is(links.rule({ ...source, repository: 'octo/policies@main' }), undefined);
  t.is(linksOf('gitea', pullRequestOf(), { baseSha: head }).rule(source), undefined, "the operator's policy");
});

test('an inline comment stands by itself', (t) => {
  const comments = renderInlines(verdict(POLICY, given));
  t.like(comments, [
    { path: 'src/a.ts', line: 1 },
    { path: 'src/a.ts', line: 3 },
  ]);
  t.is(comments.length, 2);
  t.snapshot(comments[0]?.body.replace(/[0-9a-f]{32}/, 'FINGERPRINT'));
  t.is(fingerprintIn(comments[0]?.body ?? ''), comments[0]?.fingerprint);
});

test('a success says so in one line', (t) => {
  t.is(ruled('{ id: a, require: { draft: false } }'), `${REVIEW_MARKER}\n\n### ✅ All rules are met\n`);
  t.regex(ruled(''), /None of this repository’s rules applies/);
});

test('a broken policy is shown with its faults', (t) => {
  const parsed = parsePolicy('version: 1\nrulez: []', { path: '.gatehouse.yml' });
  if (parsed.ok) {
    return t.fail();
  }
  t.snapshot(comment(brokenPolicyVerdict(parsed.faults)));
  t.snapshot(comment(withProposedPolicyFaults(verdict(POLICY, given), parsed.faults)));
  t.regex(comment(brokenPolicyVerdict(parsed.faults, true)), /own policy file is valid: merging it fixes this/);
});

test('the whole evaluation is a tree for a terminal', (t) => {
  const evaluation = evaluate(policyOf(POLICY), factsOf(given));
  const text = explain(evaluation, verdictOf(evaluation), { colours: false });
  t.snapshot(text);
  const coloured = explain(evaluation, verdictOf(evaluation), { colours: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  t.is(coloured.replace(/\u001b\[\d+m/g, ''), text);
});

// Untrusted text

const ATTACKS = [
  ...'@alice @octo/core #1 octo/x#1 !1 GH-1 <b> <script>alert(1)</script> <!-- --> ` `` ``` ~~~ --- === | \\'.split(
    ' ',
  ),
  ...'[x](https://evil.test) ![x](https://evil.test) <https://evil.test> https://evil.test http://evil.test'.split(' '),
  ...'www.evil.test mallory@evil.test mailto:mallory@evil.test *x* __x__ ~~x~~ $x$ $$ [^1] x word'.split(' '),
  ...'&lt; &#64; &commat;alice \u202e \u200b \u0000 \u001b[31m \ud800 </details> </sub> </summary>'.split(' '),
  ...['\n', '\r\n', '\n\n', '> ', '# ', '- ', '1. ', '    ', '\t', ' ', '[x]: https://evil.test'],
  ...['<!-- gatehouse:review -->', findingMarker('0'.repeat(32))],
];
const hostile = fc.array(fc.constantFrom(...ATTACKS), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
const untrusted = fc.oneof(hostile, fc.string(), fc.string({ unit: 'grapheme' }));

const markdownIt = new MarkdownIt({ html: true, linkify: true });
// Forges make links of http://, www. and name@host, which is looked for below, and not of all that this package would.
markdownIt.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
type Tokens = ReturnType<typeof markdownIt.parse>;

const OWN_LINK = new RegExp(`^${REPOSITORY}/src/commit/(?:a{40}|b{40})/[A-Za-z0-9%./-]+(?:#L\\d+)?$`);

/** Reads Markdown as a forge would, and returns what in it is alive and not ours. */
function alive(body: string): readonly string[] {
  const found: string[] = [];
  const visit = (tokens: Tokens): void => {
    for (const token of tokens) {
      if (token.type === 'code_inline') {
        continue;
      }
      if (['image', 'fence', 'code_block', 'blockquote_open'].includes(token.type)) {
        found.push(token.type);
      }
      if (token.type === 'link_open' && !OWN_LINK.test(token.attrGet('href') ?? '')) {
        found.push(token.attrGet('href') ?? '');
      }
      if (token.type === 'html_block' || token.type === 'html_inline') {
        const ours = token.content
          .replaceAll(/<!-- gatehouse:(?:review|finding [0-9a-f]{32}) -->/g, '')
          .replaceAll(/<br>|<\/?details>|<summary>(?:Rules|\d+ more lines?)<\/summary>/g, '');
        if (/[<>]/.test(ours)) {
          found.push(token.content);
        }
      }
      // Forges look for these in the text that Markdown leaves.
      if (token.type === 'text' && /@[\w-]|#\d|(?:^|\W)!\d|GH-\d|https?:\/\/|www\.|mailto:/i.test(token.content)) {
        found.push(token.content);
      }
      if (token.children) {
        visit(token.children);
      }
    }
  };
  visit(markdownIt.parse(body, {}));
  return found;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: none but line ends may be left
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test('text as code is one code span that shows it', (t) => {
  fc.assert(
    fc.property(untrusted, (text) => {
      const body = code(text);
      t.deepEqual(alive(`a ${body} b`), [], body);
      t.false(CONTROL.test(body));
      const [paragraph] = markdownIt.parse(`a ${body} b`, {}).filter(({ type }) => type === 'inline');
      const kinds = paragraph?.children?.map(({ type }) => type);
      if (text.trim() !== '' && !/^\(/.test(body)) {
        t.deepEqual(kinds, ['text', 'code_inline', 'text'], body);
      }
    }),
    { numRuns: sized(250, 1_000) },
  );
});

test('text in a table stays in its cell', (t) => {
  fc.assert(
    fc.property(untrusted, untrusted, (text, words) => {
      const row = `| ${codeInCell(text)} | ${proseInCell(words)} |`;
      t.is(row.split('|').length, 4, row);
      t.false(row.includes('\n'));
      t.deepEqual(alive(`| a | b |\n|---|---|\n${row}`), [], row);
    }),
    { numRuns: sized(250, 1_000) },
  );
  t.is(codeInCell('a\\|b||c'), '`a\\`&#124;`b`&#124;&#124;`c`');
  t.is(proseInCell('a|b\n\\|'), 'a&#124;b<br>\\\\&#124;');
});

test('text as prose is escaped in ways that show what was written', (t) => {
  t.is(prose('<b>a & b</b>'), '&lt;b&gt;a &amp; b&lt;/b&gt;');
  t.is(prose('*a* _b_ [c](d)'), '\\*a\\* \\_b\\_ \\[c\\](d)');
  t.is(prose('- a\n1. b'), '\\- a  \n1\u200b. b');
  t.is(prose('ask @alice, see #1'), 'ask @\u200balice, see \\#\u200b1');
});

test('text as prose is paragraphs without active content', (t) => {
  fc.assert(
    fc.property(untrusted, (text) => {
      const body = prose(text);
      t.deepEqual(alive(body), [], body);
      t.false(CONTROL.test(body));
      const kinds = new Set(markdownIt.parse(body, {}).map(({ type }) => type));
      for (const kind of kinds) {
        t.true(['paragraph_open', 'paragraph_close', 'inline'].includes(kind), `${kind}: ${body}`);
      }
    }),
    { numRuns: sized(250, 1_000) },
  );
  t.is(
    prose('Remove debugging code, please: see docs/style.md (section 2).'),
    'Remove debugging code, please: see docs/style.md (section 2).',
  );
});

const quote = (text: string) => JSON.stringify(text.replace(/[\ud800-\udfff]/g, '?'));

const verdicts: fc.Arbitrary<Verdict> = fc
  .array(untrusted, { minLength: 7, maxLength: 7 })
  .map(([title = '', path = '', line = '', author = '', label = '', message = '', commit = '']) => {
    const policy = `version: 1
rules:
  - { id: title, require: { title: "^never$" }, message: ${quote(message.slice(0, 1000) || 'x')} }
  - { id: body, require: { body: ${quote(RE2JS.quote(title.slice(0, 20)))} } }
  - { id: lines, forbid: { added_lines: '' }, message: ${quote(message.slice(0, 1000) || 'x')} }
  - { id: files, forbid: { files: '**' } }
  - { id: author, require: { author: nobody } }
  - { id: label, require: { label: ${quote(`never ${label.slice(0, 100)}`)} } }
  - { id: commits, forbid: { commits: { some: { merge: false } } } }
  - { id: owners, require: { approvals: { from: [CODEOWNERS] } } }
  - { id: base, require: { base: never } }
  - { id: met, require: { draft: false } }
`;
    const parsed = parsePolicy(policy, { path: path || 'x', repository: title });
    const facts = factsOf({
      title,
      author,
      labels: [label],
      base: title,
      files: [
        { path: path || 'x', added: [line.replaceAll('\n', ' ')] },
        { path: 'y', from: path || 'x' },
      ],
      commits: [{ message: commit }, { message: `x\n\nCo-authored-by: ${author.replaceAll(/\s/g, ' ')} <a@b.test>` }],
      reviews: [{ author }],
      codeowners: `* @${author.replaceAll(/\s/g, '')}`,
    });
    return parsed.ok ? verdictOf(evaluate(parsed.policy, facts)) : brokenPolicyVerdict(parsed.faults);
  });

test('no text of a pull request or policy becomes active in what is posted', (t) => {
  fc.assert(
    fc.property(verdicts, (result) => {
      const review = comment(result);
      t.true(review.startsWith(`${REVIEW_MARKER}\n`));
      t.is(review.split('<!--').length, 2, 'one marker and no other comment');
      t.deepEqual(alive(review), [], review);
      t.false(CONTROL.test(review));
      for (const row of review.split('\n').filter((line) => line.startsWith('|'))) {
        t.true([5, 6].includes(row.split('|').length), row);
      }
      for (const { body, fingerprint } of renderInlines(result)) {
        t.true(body.startsWith(`${findingMarker(fingerprint)}\n`));
        t.is(body.split('<!--').length, 2);
        t.deepEqual(alive(body), [], body);
        t.false(CONTROL.test(body));
      }
    }),
    { numRuns: sized(75, 300) },
  );
});

test('the properties above would see an attack that gets through', (t) => {
  const words = '@alice #1 <b>x</b> [x](https://evil.test) https://evil.test www.evil.test ![x](y)'.split(' ');
  for (const attack of [...words, '> x', '```\nx', '<!-- x -->']) {
    t.not(alive(attack).length, 0, attack);
  }
});

test('nothing from outside reaches the terminal as a control character', (t) => {
  fc.assert(
    fc.property(untrusted, untrusted, (title, line) => {
      const evaluation = evaluate(
        policyOf(POLICY),
        factsOf({ title, files: [{ path: `${title}.ts`, added: [`debugger ${line.replaceAll('\n', '')}`] }] }),
      );
      t.false(CONTROL.test(explain(evaluation, verdictOf(evaluation), { colours: false })));
    }),
    { numRuns: sized(75, 300) },
  );
});

// Bounds

test("a comment with very many findings stays within the forge's limit", (t) => {
  const labels = [0, 1, 2].map((at) => `l${at}${'x'.repeat(100)}`);
  const rules = Array.from({ length: 100 }, (_, index) => `{ id: r${index}, require: { label: [${labels}] } }`);
  const review = ruled(rules.join(', '), { labels: ['`'.repeat(300)] });
  t.true(review.length < 65_536, String(review.length));
  t.regex(review, /…and \d+ more, left out because this comment is full\./);
  t.true(review.includes('<details>'));
});

test('one enormous finding is cut at a line, not dropped', (t) => {
  const label = (index: number) => `{ label: ['${index}${'`'.repeat(180)}', '${'y'.repeat(190)}'] }`;
  const parts = Array.from({ length: 60 }, (_, index) => label(index));
  const review = ruled(`{ id: big, require: { all: [${parts}] } }, { id: other, require: { draft: true } }`);
  t.regex(review, /^\| ❌ \| .*<br>and \d+ more \| .* \| `big` \|$/m);
  t.regex(review, /^\| ❌ \| .* \| `other` \|$/m);
  t.deepEqual(alive(review), []);
});

/** A file with so many lines that break a rule. */
const debugged = (amount: number): Given => ({
  ...given,
  files: [{ path: 'a.ts', added: Array.from({ length: amount }, (_, index) => `debugger ${index}`) }],
});

test('inline comments are capped, and the others counted', (t) => {
  t.is(renderInlines(verdict(POLICY, debugged(150))).length, 30);
});

test('the first five lines of a rule are shown, and the others folded and counted', (t) => {
  const rowOf = (amount: number) =>
    comment(verdict(POLICY, debugged(amount))).match(/^\| ❌ \| (.*) \| `no-debugging` \|$/m)?.[1] ?? '';
  t.regex(rowOf(5), /\[4\]\([^)]*\), \[5\]\([^)]*\)$/);
  t.regex(rowOf(6), /<details><summary>1 more line<\/summary>`a\.ts` \[6\]\([^)]*\)<\/details>$/);
  const [shown = '', folded = ''] = rowOf(150).split('<details><summary>145 more lines</summary>');
  t.is(shown.match(/#L/g)?.length, 5);
  t.regex(folded, /#L50\)<br>and 100 others<\/details>$/);
});

test('long paths at lines never fill the comment', (t) => {
  const paths = Array.from({ length: 200 }, (_, index) => `${'\u202e'.repeat(4_000)}/${index}`);
  const files = paths.map((path) => ({ path, added: ['debugger'] }));
  const body = ruled('{ id: a, forbid: { added_lines: debugger } }, { id: b, require: { draft: true } }', { files });
  const row = body.match(/^\| ❌ .* \| `a` \|$/m)?.[0] ?? '';
  t.true(row.length < 10_000, String(row.length));
  t.regex(row, /and \d+ others<\/details> \| `a` \|$/);
  t.regex(body, /^\| ❌ .* \| `b` \|$/m);
});

test('places without a line get no inline comment', (t) => {
  const result = verdict("version: 1\nrules: [{ id: a, forbid: { files: '**' } }]", { files: [{ path: 'x' }] });
  t.deepEqual(renderInlines(result), []);
  t.regex(
    comment(result),
    /^\| ❌ \| Take the changes to `x` out of this pull request\. \| 1 changed file: \[`x`\]\(.*\/x\) \| `a` \|$/m,
  );
});

test('invisible characters of any script are spelled out', (t) => {
  for (const character of ['\u3164', '\u115f', '\u2800', '\u034f', '\u{e0101}', '\u202e', '\u200b']) {
    t.is(visible(`a${character}b`), `a\\u{${character.codePointAt(0)?.toString(16)}}b`);
  }
  t.is(visible('größe ❤\ufe0f 漢字'), 'größe ❤\ufe0f 漢字');
});

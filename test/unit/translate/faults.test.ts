import test from 'ava';
import { type Kind, translateText } from '../../../translate/translate-text.ts';

const RECIPE = 'version: 2\nmergeable:\n  - when: pull_request.*\n    validate:\n';

/** Files that the other program does not accept either, the line, and what is said of it. */
const FAULTY: readonly (readonly [kind: Kind, source: string, line: number, message: RegExp])[] = [
  ['policy-bot', '- a\n', 1, /is not a mapping$/],
  ['policy-bot', 'policy: [a]\n', 1, /^\["a"\] is not a mapping$/],
  ['policy-bot', 'policy:\n  approval: a\n', 2, /^"a" is not a list$/],
  ['policy-bot', 'approval_rules:\n  - name: a\n    requires: { count: many }\n', 3, /^"many" is not a whole number$/],
  ['policy-bot', 'approval_rules:\n  - name: a\n    options: { allow_author: often }\n', 3, /is not true or false$/],
  ['policy-bot', 'approval_rules:\n  - name: a\n    if: { targets_branch: main }\n', 3, /is not a mapping$/],
  ['policy-bot', 'approval_rules:\n  - name: a\n    if: { modified_lines: { total: 5 } }\n', 3, /is not a comparison/],
  ['policy-bot', 'policy:\n  disapproval: [x]\n', 2, /is not a mapping$/],
  ['policy-bot', 'policy:\n  disapproval: { requires: [x] }\n', 2, /is not a mapping$/],
  ['policy-bot', 'remote: 5\n', 1, /^5 is not a repository/],
  ['mergeable', 'mergeable:\n', 1, /is not a file with `version: 2` and `mergeable`$/],
  ['mergeable', 'version: 3\nmergeable: []\n', 2, /is not a file with `version: 2`/],
  ['mergeable', 'version: 2\nmergeable:\n  - when: pull_request.*\n', 3, /is not a list, as `validate`$/],
  ['mergeable', `${RECIPE}      - { do: title, must_include: x }\n`, 5, /^"x" is not a mapping$/],
  ['mergeable', `${RECIPE}      - { must_include: { regex: x } }\n`, 5, /is not an entry with `do`$/],
  ['mergeable', `${RECIPE}      - { do: not, validate: [{ do: title }, { do: label }] }\n`, 5, /is not one entry$/],
  ['mergeable', `${RECIPE}      - { do: title, or: [{ min: 1, max: 2 }] }\n`, 5, /is not one option$/],
  ['mergeable', `${RECIPE}      - { do: approvals, block: true }\n`, 5, /^true is not a mapping$/],
  ['mergeable', `${RECIPE}      - { do: approvals, required: [ann] }\n`, 5, /is not a mapping$/],
  ['mergeable', `${RECIPE}      - { do: approvals, min: 1, exclude: [ann] }\n`, 5, /is not a mapping$/],
  ['dco', 'require: true\n', 1, /^true is not a mapping$/],
  ['dco', 'require:\n  members: maybe\n', 2, /^"maybe" is not true or false$/],
];

for (const [kind, source, line, message] of FAULTY) {
  test(`${kind}: ${JSON.stringify(source)} is a fault in line ${line}`, (t) => {
    const result = translateText(kind, source, 'source.yml');
    if (result.ok) {
      return t.fail(result.policy);
    }
    t.like(result.faults[0], { file: 'source.yml', line, column: 1 });
    t.true(
      result.faults.some((fault) => fault.line === line && message.test(fault.message)),
      JSON.stringify(result.faults),
    );
  });
}

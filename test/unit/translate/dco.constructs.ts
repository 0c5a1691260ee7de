import type { Given } from '../../../src/review/cases/given.ts';
import type { Construct } from './judge.ts';

const README = 'dcoapp/app README.md';

const signed = (login = 'alice') => ({
  message: `x\n\nSigned-off-by: A <${login}@x.test>`,
  email: `${login}@x.test`,
  author: login,
});
const unsigned = { message: 'x', email: 'alice@x.test' };
const byBot = { message: 'x', author: 'renovate[bot]', committer: 'renovate[bot]' };
const cleanMerge = { message: 'Merge', parents: 2, clean: true };

const PASSES: readonly Given[] = [
  { commits: [signed(), signed('bob')] },
  { commits: [signed(), cleanMerge] },
  { commits: [byBot] },
];
const STOPS: readonly Given[] = [
  { commits: [signed(), unsigned] },
  { commits: [{ ...unsigned, message: 'x\n\nSigned-off-by: B <bob@x.test>' }] },
  { commits: [byBot, unsigned] },
];

export const DCO: readonly Construct[] = [
  ...['', '# nothing but this\n', 'require: { members: true }\nallowRemediationCommits: { individual: false }\n'].map(
    (source) => ({
      name: `the defaults, as ${JSON.stringify(source)}`,
      document: `${README}, "Default"`,
      source,
      passes: PASSES,
      stops: STOPS,
    }),
  ),
  {
    name: 'members that need no sign-off need one here',
    document: `${README}, "Skipping sign-off for organization members"`,
    source: 'require:\n  members: false\n',
    passes: PASSES,
    stops: STOPS,
    lost: [2],
  },
  {
    name: 'remediation commits do not count here',
    document: `${README}, "Individual remediation commit support" and "Third-party remediation support"`,
    source: 'allowRemediationCommits:\n  individual: true\n  thirdParty: true\n',
    passes: PASSES,
    stops: [
      ...STOPS,
      {
        commits: [
          unsigned,
          {
            ...signed(),
            message: `I, A <alice@x.test>, hereby add my Signed-off-by to this commit: ${'b'.repeat(40)}`,
          },
        ],
      },
    ],
    lost: [2, 3],
  },
  {
    name: 'keys that are not known',
    document: README,
    source: 'allowOverrideAction: true\nrequire: { others: true }\n',
    passes: PASSES,
    stops: STOPS,
    lost: [1, 2],
  },
];

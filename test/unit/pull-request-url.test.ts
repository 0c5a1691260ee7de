import { readPullRequestUrl } from '../../src/forges/port/addresses.ts';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import test from '../helpers/test.ts';

const SEVEN = { ok: true, ref: { repository: 'acme/widgets', number: 7 } } as const;

const FOUND: readonly (readonly [ForgeName, string, string])[] = [
  ['github', 'https://github.com', 'https://github.com/acme/widgets/pull/7'],
  ['github', 'https://api.github.com', 'https://github.com/acme/widgets/pull/7/files?w=1#diff-1'],
  ['github', 'https://www.github.com/', 'https://GitHub.com/acme/widgets/pull/7/'],
  ['github', 'https://ghe.example.com', 'https://ghe.example.com/acme/widgets/pull/7'],
  ['github', 'https://ghe.example.com/api/v3', 'https://ghe.example.com/acme/widgets/pull/7#issuecomment-1'],
  ['github', 'https://acme.ghe.com', 'https://acme.ghe.com/acme/widgets/pull/7'],
  ['gitea', 'https://git.example.com', 'https://git.example.com/acme/widgets/pulls/7'],
  ['gitea', 'https://git.example.com/', 'https://git.example.com:443/acme/widgets/pulls/7/commits'],
  ['gitea', 'https://example.com/git', 'https://example.com/git/acme/widgets/pulls/7/files'],
  ['forgejo', 'https://example.com/a/b/api/v1', 'https://example.com/a/b/acme/widgets/pulls/7'],
  ['forgejo', 'http://127.0.0.1:3000', 'http://127.0.0.1:3000/acme/widgets/pulls/7'],
];

for (const [forge, forgeUrl, address] of FOUND) {
  test(`${forge} at ${forgeUrl}: ${address} is its pull request`, (t) => {
    t.deepEqual(readPullRequestUrl(forge, forgeUrl, address), SEVEN);
  });
}

const ELSEWHERE: readonly (readonly [ForgeName, string, string])[] = [
  ['github', 'https://github.com', 'https://github.example.com/acme/widgets/pull/7'],
  ['github', 'https://ghe.example.com', 'https://github.com/acme/widgets/pull/7'],
  ['gitea', 'https://git.example.com', 'http://git.example.com/acme/widgets/pulls/7'],
  ['gitea', 'https://git.example.com', 'https://git.example.com:8443/acme/widgets/pulls/7'],
  ['gitea', 'https://git.example.com', 'https://git.example.com/mirror/acme/widgets/pulls/7'],
  ['gitea', 'https://example.com/git', 'https://example.com/acme/widgets/pulls/7'],
  ['gitea', 'https://git.example.com', 'https://git.example.com@evil.example.com/acme/widgets/pulls/7'],
];

for (const [forge, forgeUrl, address] of ELSEWHERE) {
  test(`${forge} at ${forgeUrl}: ${address} is another forge's`, (t) => {
    const found = readPullRequestUrl(forge, forgeUrl, address);
    t.true(!found.ok && found.reason.includes('is not on the configured forge'));
  });
}

const NO_PAGES: readonly (readonly [ForgeName, string])[] = [
  ['github', 'acme/widgets#7'],
  ['github', 'https://github.com/acme/widgets'],
  ['github', 'https://github.com/acme/widgets/issues/7'],
  ['github', 'https://github.com/acme/widgets/pulls/7'],
  ['github', 'https://github.com/acme/widgets/pull/0'],
  ['github', 'https://github.com/acme/widgets/pull/9999999999'],
  ['github', 'https://github.com/acme/widgets/pull/7x'],
  ['github', 'file:///acme/widgets/pull/7'],
  ['github', 'https://github.com/acme%2f../widgets/pull/7'],
];

for (const [forge, address] of NO_PAGES) {
  test(`${address} is not a pull request's page, and an example is given`, (t) => {
    const found = readPullRequestUrl(forge, 'https://github.com', address);
    t.true(!found.ok && found.reason.endsWith('looks like https://github.com/owner/name/pull/7'));
  });
}

import { apiUrlOf, readPullRequestUrl } from '../../../src/forges/port/addresses.ts';
import test from '../../helpers/test.ts';

test("the API's address follows from the one that people use", (t) => {
  for (const [forge, url, api] of [
    ['github', 'https://github.com', 'https://api.github.com'],
    ['github', 'https://github.com/', 'https://api.github.com'],
    ['github', 'https://api.github.com', 'https://api.github.com'],
    ['github', 'https://ghes.example.test', 'https://ghes.example.test/api/v3'],
    ['github', 'https://ghes.example.test:8443/api/v3/', 'https://ghes.example.test:8443/api/v3'],
    ['github', 'https://octo.ghe.com', 'https://api.octo.ghe.com'],
    ['gitea', 'https://git.example.test', 'https://git.example.test/api/v1'],
    ['gitea', 'https://example.test/gitea/', 'https://example.test/gitea/api/v1'],
    ['forgejo', 'http://forgejo.forge.svc:3000/api/v1', 'http://forgejo.forge.svc:3000/api/v1'],
  ] as const) {
    t.is(apiUrlOf(forge, url), api);
  }
});

const ELSEWHERE = 'is not on the configured forge';
const NO_PAGE = 'expected one such as https://github.com/owner/name/pull/7';

test('an address is read as a pull request of the configured forge, or the reason is given', (t) => {
  for (const [forge, forgeUrl, address, wrong] of [
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
    ['github', 'https://github.com', 'https://github.example.com/acme/widgets/pull/7', ELSEWHERE],
    ['github', 'https://ghe.example.com', 'https://github.com/acme/widgets/pull/7', ELSEWHERE],
    ['gitea', 'https://git.example.com', 'http://git.example.com/acme/widgets/pulls/7', ELSEWHERE],
    ['gitea', 'https://git.example.com', 'https://git.example.com:8443/acme/widgets/pulls/7', ELSEWHERE],
    ['gitea', 'https://git.example.com', 'https://git.example.com/mirror/acme/widgets/pulls/7', ELSEWHERE],
    ['gitea', 'https://example.com/git', 'https://example.com/acme/widgets/pulls/7', ELSEWHERE],
    ['gitea', 'https://git.example.com', 'https://git.example.com@evil.example.com/acme/widgets/pulls/7', ELSEWHERE],
    ['github', 'https://github.com', 'acme/widgets#7', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme/widgets', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme/widgets/issues/7', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme/widgets/pulls/7', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme/widgets/pull/0', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme/widgets/pull/9999999999', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme/widgets/pull/7x', NO_PAGE],
    ['github', 'https://github.com', 'file:///acme/widgets/pull/7', NO_PAGE],
    ['github', 'https://github.com', 'https://github.com/acme%2f../widgets/pull/7', NO_PAGE],
  ] as const) {
    const found = readPullRequestUrl(forge, forgeUrl, address);
    if (wrong === undefined) {
      t.deepEqual(found, { ok: true, ref: { repository: 'acme/widgets', number: 7 } }, address);
    } else {
      t.true(!found.ok && found.reason.includes(wrong), address);
    }
  }
});

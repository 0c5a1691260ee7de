import { apiUrlOf } from '../../../src/forges/port/addresses.ts';
import test from '../../helpers/test.ts';

test("the API's address follows from the one that people use", (t) => {
  const cases = [
    ['github', 'https://github.com', 'https://api.github.com'],
    ['github', 'https://github.com/', 'https://api.github.com'],
    ['github', 'https://api.github.com', 'https://api.github.com'],
    ['github', 'https://ghes.example.test', 'https://ghes.example.test/api/v3'],
    ['github', 'https://ghes.example.test:8443/api/v3/', 'https://ghes.example.test:8443/api/v3'],
    ['github', 'https://octo.ghe.com', 'https://api.octo.ghe.com'],
    ['gitea', 'https://git.example.test', 'https://git.example.test/api/v1'],
    ['gitea', 'https://example.test/gitea/', 'https://example.test/gitea/api/v1'],
    ['forgejo', 'http://forgejo.forge.svc:3000/api/v1', 'http://forgejo.forge.svc:3000/api/v1'],
  ] as const;
  for (const [forge, url, api] of cases) {
    t.is(apiUrlOf(forge, url), api);
  }
});

import { readdirSync, readFileSync } from 'node:fs';
import { urlTemplate } from '../../../src/forges/transport/url-template.ts';
import test from '../../helpers/test.ts';

const FORGES = new URL('../../../src/forges/', import.meta.url);

const EXAMPLES = {
  '/graphql': '/graphql',
  '/api/graphql': '/graphql',
  '/repos/acme/widgets': '/repos/{owner}/{repo}',
  '/api/v1/repos/acme/widgets/pulls/7.diff': '/repos/{owner}/{repo}/pulls/{number}.diff',
  '/git/api/v1/repos/acme/widgets/pulls/7/reviews/3/comments':
    '/repos/{owner}/{repo}/pulls/{number}/reviews/{number}/comments',
  '/api/v3/repos/pulls/reviews/statuses/0123456789abcdef0123456789abcdef01234567':
    '/repos/{owner}/{repo}/statuses/{sha}',
  '/api/v1/repos/acme/widgets/contents/repos/pulls/7': '/repos/{owner}/{repo}/contents/{path}',
  '/api/v1/repos/acme/widgets/branches/pulls/7': '/repos/{owner}/{repo}/branches/{branch}',
  '/repos/acme/widgets/compare/main...alice%2Ftopic': '/repos/{owner}/{repo}/compare/{basehead}',
  '/repositories/1234/pulls/7/files': '/repositories/{repo}/pulls/{number}/files',
  '/api/v1/orgs/acme/teams/search': '/orgs/{owner}/teams/{team}',
  '/somewhere/else': '/{other}',
  '/repos/acme/widgets/constructor/toString': '/repos/{owner}/{repo}/{other}/{other}',
  '': '/{other}',
};

test('the template of a path has no name, number or commit', (t) => {
  for (const [pathname, template] of Object.entries(EXAMPLES)) {
    t.is(urlTemplate(pathname), template, pathname);
  }
});

test('no template has a name that others choose, and none is long', (t) => {
  const hostile = ['pulls', '7', 'graphql', '..', '__proto__', '%2F', '{owner}', 'a'.repeat(1_000)];
  for (const name of hostile) {
    const paths = [`/repos/${name}/${name}`, `/orgs/${name}/hooks`, `/repos/a/b/contents/${name}/${name}`];
    for (const path of paths) {
      t.is(urlTemplate(path), urlTemplate(path.replaceAll(name, 'name')), path);
    }
  }
  t.true(urlTemplate(`/repos${'/pulls'.repeat(10_000)}`).length < 100);
});

test('the template of every route that GitHub is asked for is known', (t) => {
  const folders = ['github', 'setup'].map((folder) => new URL(`${folder}/`, FORGES));
  const text = folders
    .flatMap((folder) => readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8')))
    .join('\n');
  const routes = [...text.matchAll(/'(?:GET|POST|PATCH|PUT|DELETE) (\/[^']*)'/g)].map(([, route = '']) => route);
  t.true(routes.length > 30, 'the routes were found');
  const unknown = routes.filter((route) => {
    const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => (/_id|number/.test(name) ? '12' : 'x'));
    return !route.startsWith('/app-manifests/') && urlTemplate(path).includes('{other}');
  });
  t.deepEqual(unknown, []);
});

/** What a path begins with, below the address of an API. */
const ROOTS = ['repos', 'repositories', 'orgs', 'teams', 'user', 'users', 'app', 'graphql', 'installation'];

/** What follows such a segment. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  repos: ['{owner}', '{repo}'],
  repositories: ['{repo}'],
  orgs: ['{owner}'],
  users: ['{user}'],
  collaborators: ['{user}'],
  teams: ['{team}'],
  members: ['{user}'],
  memberships: ['{user}'],
  public_members: ['{user}'],
  commits: ['{ref}'],
  statuses: ['{sha}'],
  blobs: ['{sha}'],
  trees: ['{sha}'],
  compare: ['{basehead}'],
};

/** The same where it is the whole rest of the path: a name with slashes. */
const RESTS: Readonly<Record<string, string>> = {
  branches: '{branch}',
  branch_protections: '{branch}',
  contents: '{path}',
  refs: '{ref}',
  tags: '{tag}',
};

const WORDS: ReadonlySet<string> = new Set([
  ...ROOTS,
  ...Object.keys(PARAMETERS),
  ...Object.keys(RESTS),
  ...['access_tokens', 'assignees', 'attempts', 'comments', 'config'],
  ...['deliveries', 'files', 'git', 'hook', 'hooks', 'installations', 'issues'],
  ...['permission', 'pulls', 'requested_reviewers', 'reviews', 'rules', 'status', 'timeline'],
]);

/**
 * The path of a request to a forge without names, numbers and the address of the API: there are few of them, whoever
 * names repositories, branches and files. `/api/v1/repos/acme/widgets/pulls/7` is
 * `/repos/{owner}/{repo}/pulls/{number}`.
 */
export function urlTemplate(pathname: string): string {
  const all = pathname.split('/');
  const root = all.findIndex((segment) => ROOTS.includes(segment));
  const rest = root < 0 ? [] : all.slice(root);
  const template: string[] = [];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    template.push(generalized(word));
    const tail = Object.hasOwn(RESTS, word) ? RESTS[word] : undefined;
    if (tail !== undefined && rest.length > 0) {
      template.push(tail);
      break;
    }
    const parameters = Object.hasOwn(PARAMETERS, word) ? (PARAMETERS[word] ?? []) : [];
    template.push(...parameters.slice(0, rest.splice(0, parameters.length).length));
  }
  return template.length === 0 ? '/{other}' : `/${template.slice(0, MAX_SEGMENTS).join('/')}`;
}

/** More than any request has. A redirect of the forge may name any path. */
const MAX_SEGMENTS = 9;

function generalized(segment: string): string {
  return WORDS.has(segment)
    ? segment
    : /^\d+(?:\.diff)?$/.test(segment)
      ? segment.replace(/^\d+/, '{number}')
      : '{other}';
}

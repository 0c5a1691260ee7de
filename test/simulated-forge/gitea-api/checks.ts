import { type Checks, makeChecks, type Rules } from '../api/checks.ts';
import { type Description, readDescription, type Schema } from '../api/description.ts';
import type { Call } from '../routes.ts';

export const FILE = new URL('gitea.json', import.meta.url);

/** MAX_RESPONSE_ITEMS as installed: who asks for more gets fewer. */
const MAX_PAGE_SIZE = 50;

const RULES: Rules = {
  headers: faultsOfHeaders,
  page: { parameter: 'limit', max: MAX_PAGE_SIZE },
  isAccepted: () => false,
};

let made: Checks | undefined;

/** Of requests only those of Gatehouse are checked: tests ask, on purpose, what no client should. */
export function giteaChecks(): Checks {
  const checks = made ?? makeChecks(amended(readDescription(FILE)), RULES);
  made = checks;
  return {
    ...checks,
    faultsOfRequest: (call) => (call.headers['user-agent'] === 'gatehouse' ? checks.faultsOfRequest(call) : []),
  };
}

/** Fields that are null where there is nothing to say: pointers in Go, of which a description of Swagger 2.0 has no word. */
const NULLABLE = {
  PullRequest: ['merge_commit_sha'],
  ContentsResponse: ['content', 'encoding', 'target', 'submodule_git_url'],
};
const CONTENTS = 'GET /repos/{owner}/{repo}/contents/{filepath}';
const TEAMS = 'GET /repos/{owner}/{repo}/teams';

/** With what Gitea does and its description leaves out. The tests in `test/forge` rely on it, on the real one. */
function amended({ source, operations, schemas }: Description): Description {
  const contents = operations[CONTENTS];
  const teams = operations[TEAMS];
  if (contents === undefined || teams === undefined) {
    throw new Error(`${FILE} lacks an operation`);
  }
  const file = contents.answers['200'] ?? {};
  return {
    source,
    operations: {
      ...operations,
      [CONTENTS]: { ...contents, answers: { ...contents.answers, 200: { anyOf: [file, { type: 'array' }] } } },
      // Of a repository whose owner is a person.
      [TEAMS]: { ...teams, answers: { ...teams.answers, 405: null } },
    },
    schemas: {
      ...schemas,
      // Beside `login`, for old clients.
      User: withProperties(schemas['User'], { username: { type: 'string' } }),
      // Any word counts as a state, and empty is that of a commit without statuses.
      CommitStatus: withProperties(schemas['CommitStatus'], { status: { type: 'string' } }),
      CombinedStatus: withProperties(schemas['CombinedStatus'], { state: { type: 'string' } }),
      ...Object.fromEntries(
        Object.entries(NULLABLE).map(([name, fields]) => {
          const nullable = fields.map((field) => [field, { type: ['string', 'null'] }]);
          return [name, withProperties(schemas[name], Object.fromEntries(nullable))];
        }),
      ),
    },
  };
}

function withProperties(schema: Schema = {}, properties: Readonly<Record<string, Schema>>): Schema {
  return { ...schema, properties: { ...Object(schema['properties']), ...properties } };
}

function faultsOfHeaders({ headers, body }: Call): readonly string[] {
  const type = headers['content-type'] ?? '';
  return Object.keys(body).length === 0 || type.startsWith('application/json')
    ? []
    : [`header Content-Type is '${type}'`];
}

import { NOT_FOUND, withRepository } from './gitea-read-routes.ts';
import { type Answer, type Call, type Handler, type Routes, textIn } from './routes.ts';
import { type Hook, isAdministrator, newId, type Protection, type Repository, type World } from './world.ts';

const FORBIDDEN: Answer = {
  status: 403,
  body: { message: 'user should be an owner or a collaborator with admin write of a repository' },
};
const NOT_OWNER: Answer = { status: 403, body: { message: 'Must be an organization owner' } };
const DONE: Answer = { status: 204, text: '' };

type Change = Pick<Hook, 'url' | 'secret'> & Partial<Hook>;

export function makeHook(world: World, hook: Change): Hook {
  return {
    id: newId(world),
    type: 'gitea',
    contentType: 'json',
    active: true,
    events: [
      ...['push', 'pull_request', 'pull_request_label', 'pull_request_review', 'pull_request_sync'],
      ...[
        'pull_request_review_request',
        'pull_request_assign',
        'pull_request_milestone',
        'status',
        'pull_request_comment',
      ],
    ],
    ...hook,
  };
}

export function giteaSettingsRoutes(world: World, name: 'gitea' | 'forgejo'): Routes {
  const repos = '/repos/:owner/:repo';
  const ofRepository = (answer: (repository: Repository, call: Call) => Answer): Handler =>
    withRepository(world, (repository, call) =>
      isAdministrator(world, repository.fullName, call.login) ? answer(repository, call) : FORBIDDEN,
    );
  const ofOrganisation = (answer: (hooks: Hook[], call: Call) => Answer): Handler => {
    return (call) => {
      const organisation = call.parameters['org'] ?? '';
      const owners = [...world.repositories.values()].map(({ fullName }) => fullName.split('/')[0]);
      if (!owners.includes(organisation)) {
        return NOT_FOUND;
      }
      const hooks = world.organisationHooks.get(organisation) ?? [];
      world.organisationHooks.set(organisation, hooks);
      return isAdministrator(world, organisation, call.login) ? answer(hooks, call) : NOT_OWNER;
    };
  };
  const hookRoutes = (base: string, handler: (answer: (hooks: Hook[], call: Call) => Answer) => Handler): Routes => ({
    [`GET ${base}`]: handler((hooks) => ({ status: 200, body: hooks.map(shown) })),
    [`POST ${base}`]: handler((hooks, { body }) => {
      const { url, secret = '', content_type } = configOf(body);
      if (url === undefined || content_type === undefined) {
        return { status: 422, body: { message: 'Missing config option' } };
      }
      if (textIn(body, 'type') !== 'gitea' && textIn(body, 'type') !== name) {
        return { status: 422, body: { message: `Invalid hook type: ${textIn(body, 'type')}` } };
      }
      const events = Array.isArray(body['events']) ? body['events'] : ['push'];
      const made = makeHook(world, {
        ...{ url, secret, type: textIn(body, 'type'), contentType: content_type, active: body['active'] === true },
        events: events.flatMap((event) => listedAs(name, event)),
      });
      hooks.push(made);
      return { status: 201, body: shown(made) };
    }),
    [`DELETE ${base}/:id`]: handler((hooks, call) => {
      const index = hooks.findIndex(({ id }) => id === Number(call.parameters['id']));
      if (index < 0) {
        return NOT_FOUND;
      }
      hooks.splice(index, 1);
      return DONE;
    }),
  });

  return {
    ...hookRoutes(`${repos}/hooks`, (answer) => ofRepository((repository, call) => answer(repository.hooks, call))),
    ...hookRoutes('/orgs/:org/hooks', ofOrganisation),

    [`POST ${repos}/branch_protections`]: ofRepository(({ protections }, { body }) => {
      const rule = textIn(body, 'rule_name');
      if (protections.has(rule)) {
        return { status: 403, body: { message: 'Branch protection already exist' } };
      }
      const statuses = body['status_check_contexts'];
      const made = {
        checks: body['enable_status_check'] === true,
        statuses: Array.isArray(statuses) ? statuses.map(String) : [],
        push: body['enable_push'] === true,
      };
      protections.set(rule, made);
      return { status: 201, body: shownProtection(rule, made) };
    }),
  };
}

function configOf(body: Call['body']): Readonly<Record<string, string | undefined>> {
  const config = body['config'];
  return typeof config === 'object' && config !== null ? { ...config } : {};
}

/** Forgejo lists the kinds of reviews, as Gitea did before 1.26, and knows no event of statuses. */
function listedAs(name: 'gitea' | 'forgejo', event: string): readonly string[] {
  if (event === 'pull_request_only' || event === 'issues_only') {
    return [event.replace('_only', '')];
  }
  if (name === 'gitea') {
    return [event];
  }
  const kinds = ['approved', 'rejected', 'comment'].map((kind) => `pull_request_review_${kind}`);
  return event === 'pull_request_review' ? kinds : event === 'status' ? [] : [event];
}

function shown({ id, type, url, contentType, events, active }: Hook): object {
  return {
    id,
    type,
    config: { content_type: contentType, url },
    events,
    active,
  };
}

function shownProtection(rule: string, { checks, statuses, push }: Protection): object {
  return {
    rule_name: rule,
    branch_name: rule,
    enable_push: push,
    enable_status_check: checks,
    status_check_contexts: statuses,
  };
}

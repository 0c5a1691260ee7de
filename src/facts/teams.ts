import * as z from 'zod';
import type { Forge } from '../forges/port/forge.ts';
import { authorsOf } from './authors/authors.ts';
import { NO_PEOPLE_SETTINGS } from './authors/people-settings.ts';
import { changedFiles } from './changed-files.ts';
import { codeOwners } from './code-owners.ts';
import { commits } from './commits.ts';
import { conversations } from './conversations.ts';
import { type AtForge, defineFact, NO_WEBHOOKS, type Reading } from './fact.ts';
import { names } from './given.ts';
import { requestedReviews } from './requested-reviews.ts';
import { likelyWritersFirst, reviews } from './reviews.ts';
import { triage } from './triage.ts';

/** Who is in a team, or in an organisation, which is the team `organisation/*`. */
export type TeamMembers =
  /** Nobody else is. */
  | { readonly kind: 'team'; readonly logins: readonly string[] }
  /** Only people whom the forge was asked about. `unknown`: those of whom it did not say. */
  | {
      readonly kind: 'organisation';
      readonly members: readonly string[];
      readonly others: readonly string[];
      readonly unknown: readonly string[];
    };

/** By team, named `organisation/team` in lower case. A team that is not here could not be read. */
export type Teams = ReadonlyMap<string, TeamMembers>;

/** Whose membership of an organisation matters. */
export type MemberRole = 'author' | 'assignees' | 'authors' | 'signers' | 'reviewers' | 'requested' | 'conversations';

/** People of whom the forge is asked in one review whether they are members of an organisation. */
export const MAX_ASKED_MEMBERS = 50;

/**
 * A team as `organisation/team`, or people in a role whose membership of an organisation matters, as
 * `reviewers@organisation`. All in lower case.
 */
type Part = string;

type Organisation = Extract<TeamMembers, { readonly kind: 'organisation' }>;

const UNREAD: Teams = new Map();
const EVERYBODY = '/*';

const GITEA: AtForge = {
  permissions: [{ key: 'read:organization', access: 'read', title: 'read:organization', of: 'organisation' }],
  webhooks: NO_WEBHOOKS,
};

/** The members of teams that the policy or CODEOWNERS names, of the pull request's own organisation. */
export const teams = defineFact({
  name: 'teams',
  unread: UNREAD,
  unreadAs: 'members of teams',
  unreadAfter: [],
  dependsOn: [changedFiles, codeOwners, commits, conversations, requestedReviews, reviews, triage],
  async read(reading, parts: readonly Part[]) {
    const { forge, pullRequest, before } = reading;
    const { repository } = pullRequest;
    const roles = parts.flatMap((part) => roleIn(part) ?? []);
    const named = parts.filter((part) => roleIn(part) === undefined);
    const owners = (await reading.of(codeOwners)).kind === 'file' ? await reading.ownerTeams() : [];
    const missing = [...named, ...owners].filter((team) => !before.has(team));
    const [read, members] = await Promise.all([readOwnTeams(forge, repository, missing), readMembers(reading, roles)]);
    return new Map([...before, ...read, ...members]);
  },
  change: 'unseen',
  forges: {
    github: {
      permissions: [{ key: 'members', access: 'read', title: 'Members', of: 'organisation' }],
      webhooks: NO_WEBHOOKS,
    },
    gitea: GITEA,
    forgejo: GITEA,
  },
  given: {
    shape: {
      teams: z
        .record(z.string(), names, { error: 'a mapping of teams' })
        .optional()
        .describe(
          'Members by team (organisation/team), and of an organisation (organisation/*). One that is not here could not be read.',
        ),
    },
    /** Whoever is not named under an organisation is no member of it. */
    of: ({ teams: given = {} }) =>
      new Map(Object.entries(given).map(([team, logins]) => [team.toLowerCase(), { kind: 'team', logins }])),
  },
});

/** The organisation of which this is every member; undefined for any other team. */
export function organisationOf(team: string): string | undefined {
  return team.endsWith(EVERYBODY) ? team.slice(0, -EVERYBODY.length) : undefined;
}

export function everybodyIn(organisation: string): string {
  return `${organisation}${EVERYBODY}`;
}

/** What has to be read to tell who of the people in this role is in these teams. */
export function neededMembers(role: MemberRole, named: readonly string[]): { readonly teams?: readonly Part[] } {
  const parts = named.map((team) => {
    const organisation = organisationOf(team);
    return organisation === undefined ? team : `${role}@${organisation}`;
  });
  return parts.length === 0 ? {} : { teams: parts };
}

/** The teams that are asked for by name; an organisation is `organisation/*`. */
export function teamsIn(parts: readonly Part[]): readonly string[] {
  return [...new Set(parts.map((part) => (roleIn(part) ? everybodyIn(roleIn(part)?.organisation ?? '') : part)))];
}

function roleIn(part: Part): { readonly role: string; readonly organisation: string } | undefined {
  const [role = '', organisation] = part.split('@');
  return organisation === undefined ? undefined : { role, organisation };
}

/** Whether a team is of the repository's own organisation. Teams of others stay unread. */
function isOwn(repository: string, team: string): boolean {
  return team.startsWith(`${repository.split('/')[0]?.toLowerCase()}/`);
}

export async function readOwnTeams(
  forge: Pick<Forge, 'teamMembers'>,
  repository: string,
  named: Iterable<string>,
): Promise<Teams> {
  const own = [...new Set(named)].filter((team) => isOwn(repository, team));
  const read = await Promise.all(own.map(async (team) => [team, await forge.teamMembers(team)] as const));
  return new Map(read.flatMap(([team, logins]) => (logins === undefined ? [] : [[team, { kind: 'team', logins }]])));
}

/** Who of the people in these roles is a member. Of those who are known already, the forge is not asked again. */
async function readMembers(
  reading: Reading<Teams>,
  roles: readonly { readonly role: string; readonly organisation: string }[],
): Promise<Teams> {
  const { forge, before, pullRequest } = reading;
  const byOrganisation = Map.groupBy(roles, ({ organisation }) => organisation);
  const read = [...byOrganisation].map(async ([organisation, asked]) => {
    const logins = (await Promise.all(asked.map(({ role }) => peopleIn(role, reading)))).flat();
    const team = everybodyIn(organisation);
    return [team, await membersAmong(forge, pullRequest.repository, before.get(team), organisation, logins)] as const;
  });
  return new Map((await Promise.all(read)).flatMap(([team, members]) => (members ? [[team, members]] : [])));
}

/** Undefined for another organisation than the repository's. */
export async function membersAmong(
  forge: Pick<Forge, 'organisationMembers'>,
  repository: string,
  known: TeamMembers | undefined,
  organisation: string,
  logins: readonly string[],
): Promise<Organisation | undefined> {
  if (!isOwn(repository, everybodyIn(organisation))) {
    return undefined;
  }
  const before: Organisation =
    known?.kind === 'organisation' ? known : { kind: 'organisation', members: [], others: [], unknown: [] };
  const asked = new Set([...before.members, ...before.others, ...before.unknown]);
  const wanted = [...new Set(logins.map((login) => login.toLowerCase()))].filter((login) => !asked.has(login));
  const within = wanted.slice(0, MAX_ASKED_MEMBERS);
  const { members, complete } =
    within.length === 0 ? { members: [], complete: true } : await forge.organisationMembers(organisation, within);
  const rest = within.filter((login) => !members.includes(login));
  return {
    kind: 'organisation',
    members: [...before.members, ...members],
    others: [...before.others, ...(complete ? rest : [])],
    unknown: [...before.unknown, ...(complete ? [] : rest), ...wanted.slice(MAX_ASKED_MEMBERS)],
  };
}

const PEOPLE_IN: Readonly<Record<MemberRole, (reading: Reading<Teams>) => Promise<readonly string[]>>> = {
  author: async ({ pullRequest }) => [pullRequest.author],
  assignees: async ({ of }) => (await of(triage))?.assignees ?? [],
  authors: async ({ of, authorTrailers }) =>
    authorsOf(await of(commits), { ...NO_PEOPLE_SETTINGS, authorTrailers }).people.flatMap(({ login }) => login ?? []),
  signers: async ({ of }) => (await of(commits)).commits.flatMap(({ signer }) => signer ?? []),
  reviewers: async ({ of }) =>
    likelyWritersFirst((await of(reviews)).reviews)
      .filter(({ state }) => state === 'approved' || state === 'changes-requested')
      .map(({ author }) => author),
  requested: async ({ of }) => {
    const requested = await of(requestedReviews);
    const asked = requested?.history.map(({ reviewer }) => reviewer).filter((reviewer) => !reviewer.includes('/'));
    return [...(requested?.people ?? []), ...(asked ?? [])];
  },
  conversations: async ({ of }) => (await of(conversations)).conversations.map(({ author }) => author),
};

function isMemberRole(role: string): role is MemberRole {
  return Object.hasOwn(PEOPLE_IN, role);
}

function peopleIn(role: string, reading: Reading<Teams>): Promise<readonly string[]> {
  return isMemberRole(role) ? PEOPLE_IN[role](reading) : Promise.resolve([]);
}

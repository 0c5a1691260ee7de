import type { Forge } from '../../forges/port/forge.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { authorsOf } from '../authors/authors.ts';
import { NO_PEOPLE_SETTINGS } from '../authors/people-settings.ts';
import type { Facts, MemberRole, MembersNeeded, TeamMembers } from '../facts.ts';
import { MAX_ASKED_MEMBERS } from '../limits.ts';
import { everybodyIn } from '../predicates/team-members.ts';

type Members = Extract<TeamMembers, { readonly kind: 'organisation' }>;

/** Whether a team is of the pull request's own organisation. Teams of others stay unread. */
export function isOwn({ repository }: PullRequest, team: string): boolean {
  return team.startsWith(`${repository.split('/')[0]?.toLowerCase()}/`);
}

/** Who of the people in these roles is a member. Of those whom `facts` has already, the forge is not asked again. */
export async function readMembers(
  forge: Pick<Forge, 'organisationMembers'>,
  facts: Facts,
  needed: readonly MembersNeeded[],
  authorTrailers: readonly string[],
): Promise<Facts['teams']> {
  const byOrganisation = Map.groupBy(needed, ({ organisation }) => organisation);
  const read = [...byOrganisation].map(async ([organisation, roles]) => {
    const logins = roles.flatMap(({ role }) => peopleIn(role, facts, authorTrailers));
    return [everybodyIn(organisation), await membersAmong(forge, facts, organisation, logins)] as const;
  });
  return new Map((await Promise.all(read)).flatMap(([team, members]) => (members ? [[team, members]] : [])));
}

/** Undefined for another organisation than the pull request's. */
export async function membersAmong(
  forge: Pick<Forge, 'organisationMembers'>,
  { pullRequest, teams }: Pick<Facts, 'pullRequest' | 'teams'>,
  organisation: string,
  logins: readonly string[],
): Promise<Members | undefined> {
  const team = everybodyIn(organisation);
  if (!isOwn(pullRequest, team)) {
    return undefined;
  }
  const before = membersIn(teams.get(team));
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

function membersIn(known: TeamMembers | undefined): Members {
  return known?.kind === 'organisation' ? known : { kind: 'organisation', members: [], others: [], unknown: [] };
}

function peopleIn(role: MemberRole, facts: Facts, authorTrailers: readonly string[]): readonly string[] {
  switch (role) {
    case 'author':
      return [facts.pullRequest.author];
    case 'assignees':
      return facts.triage?.assignees ?? [];
    case 'authors':
      return authorsOf(facts.commits, { ...NO_PEOPLE_SETTINGS, authorTrailers }).people.flatMap(
        ({ login }) => login ?? [],
      );
    case 'signers':
      return facts.commits.commits.flatMap(({ signer }) => signer ?? []);
    case 'reviewers':
      // Those who may write first: anybody may approve a public pull request, and must not crowd them out.
      return facts.reviews.reviews
        .filter(({ state }) => state === 'approved' || state === 'changes-requested')
        .toSorted((one, other) => Number(other.official) - Number(one.official))
        .map(({ author }) => author);
    case 'requested':
      return facts.reviews.requested?.people ?? [];
    case 'conversations':
      return facts.conversations.conversations.map(({ author }) => author);
  }
}

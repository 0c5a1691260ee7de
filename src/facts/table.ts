import type * as z from 'zod';
import type { PullRequest } from '../forges/port/pull-request.ts';
import { NO_PEOPLE_SETTINGS, type PeopleSettings } from './authors/people-settings.ts';
import { changedFiles } from './changed-files.ts';
import { checks } from './checks.ts';
import { codeOwners } from './code-owners.ts';
import { commits } from './commits.ts';
import { conversations } from './conversations.ts';
import type { Fact, GivenOf } from './fact.ts';
import { lastChange } from './last-change.ts';
import { merges } from './merges.ts';
import { type PullRequestPart, pullRequestFact } from './pull-request.ts';
import { repository } from './repository.ts';
import { requestedReviews } from './requested-reviews.ts';
import { reviews } from './reviews.ts';
import { teams } from './teams.ts';
import { triage } from './triage.ts';
import { writers } from './writers.ts';

/**
 * All facts. A new one is a file beside this one and its place here, and whatever reads, compares, shows or tests facts
 * takes it from here. Those that others depend on come first.
 */
const TABLE = {
  changedFiles,
  commits,
  reviews,
  lastChange,
  merges,
  requestedReviews,
  triage,
  repository,
  codeOwners,
  checks,
  conversations,
  writers,
  teams,
};

type Table = typeof TABLE;
export type FactName = keyof Table;
export type Values = { readonly [Name in FactName]: Table[Name]['unread'] };
export type PartOf<Name extends FactName> = Parameters<Table[Name]['read']>[1][number];

/** What policies ask about, with the parts of each fact. What is not here is not needed. */
export type Needs = { readonly [Name in FactName]?: readonly PartOf<Name>[] } & {
  /** Parts of the pull request itself, which is always read. */
  readonly pullRequest?: readonly PullRequestPart[];
};

/**
 * Everything that is judged of one pull request: a snapshot, never added to.
 *
 * What was not read is unread here, and what depends on it is then undecided, never passed.
 */
export interface Facts extends Values {
  readonly pullRequest: PullRequest;
  /** How people are told apart from machines, beside what the forge says: the policy's words, which evaluate() adds. */
  readonly people: PeopleSettings;
}

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Shapes = (Table[FactName] | typeof pullRequestFact)['given']['shape'];
type GivenShape = Intersection<Shapes> extends infer All extends z.ZodRawShape ? All : never;
/** A pull request as a case of a policy test gives it. */
export type GivenPullRequest = GivenOf<GivenShape>;

type FactOf<Name extends FactName> = Omit<Fact<Name, Values[Name], PartOf<Name>, z.ZodRawShape>, 'given'> & {
  readonly given: { readonly shape: z.ZodRawShape; readonly of: (from: GivenPullRequest) => Values[Name] };
};

/** By name, with its types. */
export const FACTS: { readonly [Name in FactName]: FactOf<Name> } = TABLE;

export const FACT_NAMES: readonly FactName[] = Object.keys(TABLE).filter(isFactName);

function isFactName(name: string): name is FactName {
  return Object.hasOwn(TABLE, name);
}

/** A value for each fact. */
function eachFact(make: <Name extends FactName>(name: Name) => Values[Name]): Values {
  const entries = FACT_NAMES.map((name) => [name, make(name)] as const);
  // FACT_NAMES has every name, and what is made for a name is of its type.
  return Object.fromEntries(entries) as Values;
}

/** Facts of which only the pull request itself has been read. Spread what is read over it. */
export function unreadFacts(pullRequest: PullRequest): Facts {
  return { ...eachFact((name) => FACTS[name].unread), pullRequest, people: NO_PEOPLE_SETTINGS };
}

/** The keys of all facts' forms in policy tests. */
export const GIVEN_SHAPE: GivenShape = Object.assign(
  {},
  pullRequestFact.given.shape,
  ...FACT_NAMES.map((name) => FACTS[name].given.shape),
);

/** What a case of a policy test gives. What it leaves out is ordinary. */
export function factsOf(
  from: GivenPullRequest & { readonly machine_accounts?: readonly string[] | undefined } = {},
): Facts {
  return {
    ...eachFact((name) => FACTS[name].given.of(from)),
    pullRequest: pullRequestFact.given.of(from),
    people: { authorTrailers: [], machineAccounts: from.machine_accounts ?? [] },
  };
}

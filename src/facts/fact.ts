import type * as z from 'zod';
import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { ForgeName } from '../forges/port/forges.ts';
import type { PreloadedFacts, PullRequest, WriteAccess } from '../forges/port/pull-request.ts';
import type { Makers } from './authors/makers.ts';

/**
 * Something that rules can ask about a pull request, as one value: everything that Gatehouse does with facts walks the
 * table of them (table.ts), so a property that is missing here is a compile error, and nothing else lists facts.
 *
 * `Part`: what can be asked of it beside its mere presence, such as who signed the commits.
 */
export interface Fact<Name extends string, Value, Part extends string, Shape extends z.ZodRawShape> {
  readonly name: Name;
  /** What it is when it was not read, or could not be. What depends on it is then undecided, never passed. */
  readonly unread: Value;
  /** How a report names it where it is unread, as a noun: "reviews", which could not be read. */
  readonly unreadAs: string;
  /** Failures of the forge after which asking again would bring no other answer: the fact is then unread. */
  readonly unreadAfter: readonly ForgeError['kind'][];
  /** Facts that decide what is read of this one: it is read again when one of them is. */
  readonly dependsOn: readonly AnyFact[];
  readonly read: (reading: Reading<Value>, parts: readonly Part[]) => Promise<Value>;
  readonly change: Change;
  readonly forges: Readonly<Record<ForgeName, AtForge>>;
  readonly given: Given<Shape, Value>;
}

/** A fact of whatever kind, where only its name and where it is read from matter. */
export interface AnyFact {
  readonly name: string;
}

/** What a fact is read with. */
export interface Reading<Value> {
  readonly forge: Forge;
  readonly pullRequest: PullRequest;
  /** What came with the pull request. */
  readonly preloaded: PreloadedFacts;
  /** The base branch's commit that the policy was read at. */
  readonly baseSha: string;
  /** The name of Gatehouse's own commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** Keys of trailers that name a co-author, beside `Co-authored-by`: the policy's own. */
  readonly authorTrailers: readonly string[];
  /** Absent: it is not known who pushed, nor who made commits that a force-push has taken away. */
  readonly makers?: Makers | undefined;
  readonly writeAccess: WriteAccess;
  /** The teams that CODEOWNERS names for the change. Asks a worker, since anybody may have written CODEOWNERS. */
  readonly ownerTeams: () => Promise<readonly string[]>;
  /** What was read of this fact before. */
  readonly before: Value;
  /** Another fact of {@link Fact.dependsOn}, once it has been read; what it was before where nothing needs it. */
  readonly of: ReadFact;
}

export type ReadFact = <Value>(fact: { readonly name: string; readonly unread: Value }) => Promise<Value>;

/**
 * How a change of a fact shows should every webhook be lost. What is fixed by the commits of head and base changes only
 * with them. Of some the forge moves the time of the pull request's last change. Anything else is `unseen`: it is found
 * when it is the turn of the pull request to be judged again.
 */
export type Change = 'commits' | 'updated-at' | 'unseen';

/** What a forge wants and sends for a fact. */
export interface AtForge {
  /** What reading it takes beside what every review has. */
  readonly permissions: readonly Permission[];
  /** What tells that it changed. Empty: only a resync finds that. */
  readonly webhooks: readonly Webhook[];
}

/** A permission of a GitHub App, or a scope of a token of Gitea and Forgejo. */
export interface Permission {
  /** In the forge's API. */
  readonly key: string;
  readonly access: 'read' | 'write';
  /** In the forge's settings. */
  readonly title: string;
  readonly of: 'repository' | 'organisation';
}

export interface Webhook {
  /** In the header of the delivery. */
  readonly event: string;
  readonly actions: readonly string[] | 'any action';
  /** `review`: the review of its pull request. `asking`: the reviews of its commit whose policy asks for the fact. */
  readonly starts: 'review' | 'asking';
  /** Whether this very payload tells it. */
  readonly when?: (payload: Readonly<Record<string, unknown>>) => boolean;
  /** The way to the commit that it is about: that of the pull request's head, where it is absent. */
  readonly commitAt?: readonly string[];
  /** Whether Gatehouse itself causes such events, which then start nothing. */
  readonly alsoByGatehouse?: true;
  /** What has to be subscribed to; absent: every review needs it. */
  readonly subscription?: Subscription;
}

export interface Subscription {
  /** The name to ask for it by. */
  readonly name: string;
  /** The API lists it by one of these names; absent: by the same. */
  readonly listedAs?: readonly string[];
  /** In the forge's settings. */
  readonly title: string;
}

/** How a case of a policy test says what a fact is. */
export interface Given<Shape extends z.ZodRawShape, Value> {
  /** The keys of `given` that it adds, each optional. */
  readonly shape: Shape;
  /** What is left out is ordinary. `from` is the whole case. */
  readonly of: (from: GivenOf<Shape>) => Value;
}

export type GivenOf<Shape extends z.ZodRawShape> = z.input<z.ZodObject<Shape>>;

export function defineGiven<Shape extends z.ZodRawShape, Value>(form: Given<Shape, Value>): Given<Shape, Value> {
  return form;
}

/** Checks a fact's properties, and keeps its types. */
export function defineFact<const Name extends string, Value, Part extends string, Shape extends z.ZodRawShape>(
  fact: Fact<Name, Value, Part, Shape>,
): Fact<Name, Value, Part, Shape> {
  return fact;
}

/** The fact as `read` gives it; unread where asking again would bring no other answer. */
export async function orUnread<Value>(
  { unread, unreadAfter }: { readonly unread: Value; readonly unreadAfter: readonly ForgeError['kind'][] },
  read: () => Promise<Value>,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && unreadAfter.includes(error.kind)) {
      return unread;
    }
    throw error;
  }
}

/** What every review has: none of its own. */
export const NO_PERMISSIONS: readonly Permission[] = [];
/** What no forge tells: only the resync finds it. */
export const NO_WEBHOOKS: readonly Webhook[] = [];

const NOTHING: AtForge = { permissions: NO_PERMISSIONS, webhooks: NO_WEBHOOKS };
export const NOTHING_MORE: Readonly<Record<ForgeName, AtForge>> = {
  github: NOTHING,
  gitea: NOTHING,
  forgejo: NOTHING,
};

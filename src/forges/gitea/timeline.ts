import type { z } from 'zod';
import { limitList, requireFound, timeOf } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import { splitRepository } from '../port/names.ts';
import type { PullRequestRef, ReviewerEvent } from '../port/pull-request.ts';
import { type GiteaClient, SHORT } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

const MAX_PAGES = 200;
/**
 * Nothing says where the list ends: entries that are left out of a page (comments at lines, references from private
 * repositories) make it shorter or empty, and its total counts only itself. So many empty pages in a row are its end.
 */
const EMPTY_PAGES_AT_END = 5;
const PAGE_ENTRIES = 50;
/** In the body of an entry `pull_push`, which nobody can write or edit. That of a force-push is short. */
const FORCE_PUSH = /"is_force_push":\s*true/;

/**
 * Hidden entries can make the list seem to end before a change of base. Gitea 1.26 then still shows that there was one:
 * a change of base deletes the entries of all pushes, the opening's included, and adds a new one. So the base has not
 * changed since the first push that is listed; where none is listed, it is not known.
 */
export async function lastForcePushOrRetarget(client: GiteaClient, ref: PullRequestRef): Promise<string> {
  const changes: number[] = [];
  let firstPush: number | undefined;
  const route = routeOf(ref);
  for (const entry of await timeline(client, ref)) {
    if (entry.type === 'pull_push') {
      firstPush ??= timeOf(entry.created_at, route);
    }
    if (entry.type === 'change_target_branch' || (entry.type === 'pull_push' && FORCE_PUSH.test(entry.body))) {
      changes.push(timeOf(entry.created_at, route));
    }
  }
  if (firstPush === undefined) {
    throw new ForgeError('invalid', `${route}: no push is listed, so that a change of base may be hidden`);
  }
  // Times are in seconds. An approval in the second of the opening counts: nobody can approve earlier.
  return new Date(Math.max(...changes, firstPush - 1)).toISOString();
}

/**
 * `requested`: logins of those whose review is requested now. `commentsAtLines`: those known, whose pages are empty.
 * Others' pending reviews have some, too.
 */
export async function reviewerEvents(
  client: GiteaClient,
  ref: PullRequestRef,
  requested: readonly string[],
  commentsAtLines: number,
): Promise<readonly ReviewerEvent[]> {
  const { owner } = splitRepository(ref.repository);
  const emptyPages = Math.max(EMPTY_PAGES_AT_END, 1 + Math.ceil(commentsAtLines / PAGE_ENTRIES));
  const events = (await timeline(client, ref, emptyPages)).flatMap((entry): readonly ReviewerEvent[] => {
    if (!('user' in entry)) {
      return [];
    }
    const { type, user: by, assignee, assignee_team, removed_assignee } = entry;
    const team = assignee_team && `${owner}/${assignee_team}`.toLowerCase();
    const reviewer = type === 'review' ? by : (team ?? assignee);
    const kind = type === 'review' ? 'reviewed' : removed_assignee ? 'withdrawn' : 'requested';
    return reviewer === null ? [] : [{ kind, reviewer, by }];
  });
  return [...events, ...hiddenWithdrawals(events, requested)];
}

/**
 * Of requests that are gone without a trace: what ended them may be behind pages that were taken for the end. Requests
 * of teams are not among them, since a review by any member ends one.
 */
function hiddenWithdrawals(events: readonly ReviewerEvent[], requested: readonly string[]): readonly ReviewerEvent[] {
  const still = new Set(requested.map((login) => login.toLowerCase()));
  const last = new Map(events.map((event) => [event.reviewer.toLowerCase(), event]));
  return [...last].flatMap(([login, { kind, reviewer }]) =>
    kind !== 'requested' || login.includes('/') || still.has(login)
      ? []
      : [{ kind: 'withdrawn', reviewer, by: shapes.GONE }],
  );
}

function routeOf(ref: PullRequestRef): string {
  return `GET ${resourceOf(ref)}`;
}

function resourceOf(ref: PullRequestRef): string {
  return `${repositoryPath(ref.repository)}/issues/${ref.number}/timeline`;
}

type Entry = NonNullable<z.output<typeof shapes.timeline>[number]>;

/** `emptyPages`: so many in a row are its end. */
async function timeline(
  client: GiteaClient,
  ref: PullRequestRef,
  emptyPages = EMPTY_PAGES_AT_END,
): Promise<readonly Entry[]> {
  const route = routeOf(ref);
  const countPage = limitList(route, MAX_PAGES);
  const entries: Entry[] = [];
  let empty = 0;
  for (let number = 1; empty < emptyPages; number += 1) {
    const ask = { number, maxStringBytes: SHORT };
    const { items } = requireFound(await client.askPage(resourceOf(ref), shapes.timeline, ask), route);
    countPage(items);
    empty = items.length === 0 ? empty + 1 : 0;
    for (const entry of items) {
      if (entry === null) {
        // What these forges answer for an entry that they could not read themselves.
        throw new ForgeError('invalid', `${route}: the forge left out an entry of the timeline`);
      }
      entries.push(entry);
    }
  }
  return entries;
}

import type { Octokit } from 'octokit';
import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ListingFailure, WritableRepositories } from '../port/many-repositories.ts';
import type { GitHubClient } from './client.ts';
import { ask } from './request.ts';

const PAGE_SIZE = 100;

const repositories = z.array(
  z.object({
    full_name: z.string(),
    archived: z.boolean(),
    permissions: z.object({ push: z.boolean() }).optional(),
  }),
);
type Repository = z.output<typeof repositories>[number];

/** The answer for an installation: the list is inside an object. */
const installed = z.object({ repositories }).transform((answer) => answer.repositories);

/** Where an App is installed it may write; of a user, the answer shows what they may do there. */
export async function writableRepositories(client: GitHubClient, most: number): Promise<WritableRepositories> {
  if (client.kind === 'token') {
    const found = await listOf(client.own, 'GET /user/repos', { sort: 'pushed' }, repositories, most);
    return { names: namesOf(found.filter(({ permissions }) => permissions?.push)), more: found.length >= most };
  }
  const found: Repository[] = [];
  const failures: ListingFailure[] = [];
  for (const { octokit, owner } of await client.installations()) {
    if (found.length >= most) {
      break;
    }
    try {
      found.push(...(await listOf(octokit, 'GET /installation/repositories', {}, installed, most - found.length)));
    } catch (error) {
      // One that is suspended, removed or at its rate limit does not hide the others.
      if (!(error instanceof ForgeError)) {
        throw error;
      }
      failures.push({ owner, error });
    }
  }
  return { names: namesOf(found), more: found.length >= most, ...(failures.length > 0 && { failures }) };
}

function namesOf(found: readonly Repository[]): readonly string[] {
  return found.filter(({ archived }) => !archived).map(({ full_name }) => full_name);
}

/** Page by page, for so many repositories with all that GitHub says of them are more bytes than one list may have. */
async function listOf(
  octokit: Octokit,
  route: string,
  query: Readonly<Record<string, string>>,
  shape: z.ZodType<readonly Repository[]>,
  most: number,
): Promise<readonly Repository[]> {
  const items: Repository[] = [];
  for (let page = 1; items.length < most; page++) {
    const found = requireFound(await ask(octokit, route, { ...query, per_page: PAGE_SIZE, page }, shape), route);
    items.push(...found);
    if (found.length < PAGE_SIZE) {
      break;
    }
  }
  return items.slice(0, most);
}

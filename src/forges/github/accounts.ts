import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { type Accounts, hiddenAddress, type NamedAddress } from '../port/accounts.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql } from './request.ts';

/** The author of a commit, and then those whom `Co-authored-by` names, with their accounts. */
export const AUTHORS = '{ pageInfo { hasNextPage } nodes { email user { login } } }';

/** Where not all of them are there, those who are. */
export const commitAuthors = z.object({
  pageInfo: z.object({ hasNextPage: z.boolean() }),
  nodes: z.array(
    z.object({ email: z.string().nullable(), user: z.object({ login: z.string() }).nullable() }).nullable(),
  ),
});
type CommitAuthors = z.output<typeof commitAuthors>;

/** Only GraphQL tells of co-authors. `count`: of how many commits. */
export function authorsQuery(count: number): string {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const variables = numbers.map((index) => `, $sha${index}: GitObjectID!`).join('');
  const commits = numbers.map(
    (index) => `commit${index}: object(oid: $sha${index}) { ... on Commit { authors(first: 100) ${AUTHORS} } }`,
  );
  return `query ($owner: String!, $repo: String!${variables}) {
  repository(owner: $owner, name: $repo) { ${commits.join(' ')} }
}`;
}

const answer = z.object({
  repository: z.record(z.string(), z.object({ authors: commitAuthors.optional() }).nullable()),
});

/**
 * The accounts of co-authors, by GraphQL alone. Where it is refused, or for addresses that other trailers name, the
 * addresses themselves say as much as they can.
 */
export async function accounts(
  client: GitHubClient,
  repository: string,
  asked: readonly NamedAddress[],
): Promise<Accounts> {
  const what = 'the authors of commits';
  const octokit = requireFound(await client.forRepository(repository), what);
  const host = hostOf(octokit.request.endpoint.DEFAULTS.baseUrl);
  const shas = [...new Set(asked.map(({ sha }) => sha))];
  const variables = Object.fromEntries(shas.map((sha, index) => [`sha${index}`, sha]));
  const told = await askGraphql(
    octokit,
    what,
    authorsQuery(shas.length),
    { ...repositoryAddress(repository), ...variables },
    answer,
  ).catch(unlessRefused);
  const lists = Object.values(told?.repository ?? {}).flatMap((commit) => commit?.authors ?? []);
  const listed = accountsIn(lists, host);
  const areAll = lists.length === shas.length && !lists.some(({ pageInfo }) => pageInfo.hasNextPage);
  const rest = areAll ? null : undefined;
  return new Map(
    asked.flatMap(({ address }) => {
      const account = listed.get(address) ?? ownLogin(address, host) ?? rest;
      return account === undefined ? [] : [[address, account] as const];
    }),
  );
}

/** By address, as far as the lists have them. GitHub knows no user for an App: its login is in its address. */
export function accountsIn(lists: readonly CommitAuthors[], host: string): Accounts {
  const people = lists.flatMap(({ nodes }) => nodes);
  return new Map(
    people.flatMap((person) => {
      const address = person?.email?.toLowerCase();
      return address === undefined ? [] : [[address, person?.user?.login ?? ownLogin(address, host) ?? null] as const];
    }),
  );
}

/** `github.com`, or that of an Enterprise Server, from the address of the API. */
export function hostOf(apiUrl: string): string {
  return new URL(apiUrl).hostname.replace(/^api\./, '');
}

/** In an address that this forge itself gave out. One of another GitHub is of another one's account. */
function ownLogin(address: string, host: string): string | undefined {
  const hidden = hiddenAddress(address);
  return hidden?.domain === `users.noreply.${host}` ? hidden.login : undefined;
}

/** A schema, a proxy or a permission that does not allow the query will not tomorrow either. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ForgeError && ['invalid', 'refused', 'too-large'].includes(error.kind)) {
    return undefined;
  }
  throw error;
}

import type { z } from 'zod';
import { timeOf } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ChangeList, ListedRepository, WritableRepositories } from '../port/many-repositories.ts';
import { type GiteaClient, SHORT } from './client.ts';
import * as shapes from './shapes.ts';

const REPOSITORIES = '/repos/search';
const PULL_REQUESTS = '/repos/issues/search';
/** Pages of 50: 100,000 repositories, or pull requests that have changed. */
const MAX_PAGES = 2_000;
/** Most recently pushed to first. One that moves up while the pages are read changed after the list began. */
const BY_UPDATE = { sort: 'updated', order: 'desc' };

/**
 * Both searches cover what the account can see, private repositories too, and ask the database and no index. A push
 * moves the `updated_at` of its repository, and everything else that matters here that of the pull request. Both times
 * are in whole seconds.
 */
export function makeChangeList(client: GiteaClient): ChangeList {
  return {
    async all() {
      const { items, asOf } = await read(client, REPOSITORIES, shapes.foundRepositories, BY_UPDATE);
      return { repositories: items.map(named), asOf };
    },

    async changedSince(since) {
      const isOlder = (repository: z.output<typeof shapes.foundRepositories>[number]) =>
        timeOf(repository.updated_at, REPOSITORIES) < since.getTime();
      const pushed = await read(client, REPOSITORIES, shapes.foundRepositories, BY_UPDATE, (page) =>
        page.some(isOlder),
      );
      // Closed ones too: whatever happens, none leaves the list while its pages are read.
      const query = { type: 'pulls', state: 'all', since: since.toISOString() };
      const pulls = await read(client, PULL_REQUESTS, shapes.foundPulls, query);
      const repositories = new Map<string, ListedRepository>();
      for (const repository of [
        ...pushed.items.filter((one) => !isOlder(one)),
        ...pulls.items.map((pull) => pull.repository),
      ]) {
        repositories.set(repository.id, named(repository));
      }
      return { repositories: [...repositories.values()], asOf: pushed.asOf };
    },
  };
}

/** Those that were pushed to last, at most so many. */
export async function writableRepositories(client: GiteaClient, most: number): Promise<WritableRepositories> {
  const names: string[] = [];
  await read(client, REPOSITORIES, shapes.foundRepositories, { ...BY_UPDATE, archived: 'false' }, (page) => {
    names.push(...page.filter(({ permissions }) => permissions?.push).map(({ full_name }) => full_name));
    return names.length >= most;
  });
  return { names: names.slice(0, most), more: names.length >= most };
}

function named({ id, full_name: name }: { readonly id: string; readonly full_name: string }): ListedRepository {
  return { id, name };
}

/** All pages of a list, or as many as are `enough`. */
async function read<T>(
  client: GiteaClient,
  path: string,
  shape: z.ZodType<readonly T[]>,
  query: Readonly<Record<string, string>>,
  enough: (page: readonly T[]) => boolean = () => false,
): Promise<{ readonly items: readonly T[]; readonly asOf: Date }> {
  const list = await client.askList(path, shape, { query, enough, maxPages: MAX_PAGES, maxStringBytes: SHORT });
  if (list === undefined) {
    throw new ForgeError('invalid', `GET ${path}: this forge has no such list`, { status: 404 });
  }
  const { items, date: asOf } = list;
  if (asOf === undefined) {
    throw new ForgeError('invalid', `GET ${path}: the forge does not say what time it is`);
  }
  return { items, asOf };
}

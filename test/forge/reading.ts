import { eventually } from '../helpers/story.ts';
import type { Site, TestForge } from './site.ts';

/** Answers of the API, as Gatehouse's own token sees them. */
export async function ask<T>(forge: TestForge, path: string): Promise<T> {
  const response = await call(forge, 'GET', path);
  if (!response.ok) {
    throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  }
  return (await response.json()) as T;
}

/** Redirects are not followed. */
export function call(forge: TestForge, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${forge.url}/api/v1${path}`, {
    method,
    redirect: 'manual',
    headers: { authorization: `token ${forge.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

export interface PullShape {
  readonly state: string;
  readonly updated_at: string;
  readonly draft?: boolean;
  readonly merged: boolean;
  readonly head: { readonly sha: string; readonly ref: string; readonly label: string; readonly repo: object | null };
}

export const pullOf = (forge: TestForge, site: Site, number: number) =>
  ask<PullShape>(forge, `/repos/${site.repository()}/pulls/${number}`);

/** A commit's status for pull requests into a branch; undefined when it has none. */
export async function statusOf(forge: TestForge, site: Site, sha: string, base = 'main') {
  const { statuses } = await ask<{ statuses: { context: string; status: string; description: string }[] | null }>(
    forge,
    `/repos/${site.repository()}/commits/${sha}/status`,
  );
  return statuses?.find(({ context }) => context === `gatehouse/${base}`);
}

/** Waits until Gatehouse's status of a commit says so. It follows the comment. */
export function described(forge: TestForge, site: Site, sha: string, description: string): Promise<void> {
  return eventually(
    `the status of ${sha} says: ${description}`,
    async () => (await statusOf(forge, site, sha))?.description === description,
  );
}

/** What Gatehouse says in the conversation. */
export async function commentsOf(forge: TestForge, site: Site, number: number): Promise<readonly string[]> {
  const comments = await ask<{ body: string; user: { login: string } }[]>(
    forge,
    `/repos/${site.repository()}/issues/${number}/comments`,
  );
  return comments.filter(({ user }) => user.login === 'gatehouse').map(({ body }) => body);
}

/** Where Gatehouse's comments at lines are: `path:line`, in order. */
export async function inlinesOf(forge: TestForge, site: Site, number: number): Promise<readonly string[]> {
  const path = `/repos/${site.repository()}/pulls/${number}/reviews`;
  const reviews = await ask<{ id: number; user: { login: string } }[]>(forge, path);
  const places: string[] = [];
  for (const { id } of reviews.filter(({ user }) => user.login === 'gatehouse')) {
    const comments = await ask<{ path: string; position: number; body: string }[]>(forge, `${path}/${id}/comments`);
    places.push(...comments.map((comment) => `${comment.path}:${comment.position}`));
  }
  return places.toSorted();
}

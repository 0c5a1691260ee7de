import { MAIN, type Site } from '../helpers/site.ts';
import type { TestForge } from './test-forge.ts';

/** The status of pull requests into the default branch. */
export const OURS = `gatehouse/${MAIN}`;

/** Answers of the API, as Gatehouse's own token sees them. */
export async function ask<T>(forge: TestForge, path: string): Promise<T> {
  const response = await call(forge, 'GET', path);
  if (!response.ok) {
    throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  }
  return (await response.json()) as T;
}

/** Redirects are not followed. */
export function call(
  forge: Pick<TestForge, 'url' | 'token'>,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
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
  ask<PullShape>(forge, `/repos/${site.repository}/pulls/${number}`);

/** Where Gatehouse's comments at lines are: `path:line`, in order. */
export async function inlinesOf(site: Site, number: number): Promise<readonly string[]> {
  return (await site.inlines(number)).map(({ path, line }) => `${path}:${line}`).toSorted();
}

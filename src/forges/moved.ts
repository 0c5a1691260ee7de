import type { OpenPullRequest, OpenPullRequests } from './port/pull-request.ts';

/**
 * Open pull requests, with the present name of their repository. Where a request by an old name was redirected, forges
 * do not say the new one in an empty list (GitHub redirects to a number): only then `read` asks for it. `url`: after
 * redirects.
 */
export async function withPresentName(
  repository: string,
  url: string,
  pullRequests: readonly OpenPullRequest[],
  read: () => Promise<{ readonly full_name: string } | undefined>,
): Promise<OpenPullRequests> {
  const [first] = pullRequests;
  if (first !== undefined) {
    return { repository: first.repository, pullRequests };
  }
  const redirected = !new URL(url).pathname.endsWith(`/repos/${repository}/pulls`);
  return { repository: (redirected ? await read() : undefined)?.full_name ?? repository, pullRequests };
}

import { FORGES, type ForgeName } from '../../forges/port/forges.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { RuleSources } from '../rules-of.ts';
import type { Finding } from '../verdict.ts';

/** Addresses of files on the forge. Undefined where there is none that is certain to be right. */
export interface Links {
  /** A file, or a line of it, as the head commit has it. */
  place(path: string, line?: number): string | undefined;
  /** A page that somebody else names, as the forge would link to it. Gitea's Actions name it without the host. */
  page(url: string): string | undefined;
  /** The line of the policy that a rule begins at, at the base commit. */
  rule(source: Finding['source']): string | undefined;
}

/** Most of it is a path, of which anybody chooses the length. */
const MAX_FILE_ADDRESS_LENGTH = 1_000;

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function linksOf(
  forge: ForgeName,
  { url, number, head }: PullRequest,
  rules: Pick<RuleSources, 'baseSha' | 'policyDigest'>,
): Links {
  const { pullRequestSegment, filesAtCommitSegment } = FORGES[forge];
  const page = URL.canParse(url) ? encodeMarkdown(new URL(url).href) : '';
  const ownPart = `/${pullRequestSegment}/${number}`;
  const isPage = /^https?:/.test(page) && page.endsWith(ownPart);
  const repository = isPage ? page.slice(0, -ownPart.length) : undefined;

  function fileAt(commit: string, path: string, line: number | undefined): string | undefined {
    const segments = path.split('/');
    if (repository === undefined || !COMMIT_ID.test(commit) || segments.some((name) => /^\.{0,2}$/.test(name))) {
      return undefined;
    }
    const encoded = segments.map((name) => encodeMarkdown(encodeURIComponent(name.toWellFormed()))).join('/');
    const address = `${repository}/${filesAtCommitSegment}/${commit}/${encoded}${line === undefined ? '' : `#L${line}`}`;
    return address.length > MAX_FILE_ADDRESS_LENGTH ? undefined : address;
  }

  return {
    place: (path, line) => fileAt(head.sha, path, line),
    page: (address) => pageOf(address, url),
    // The operator's policy is a file of no repository, and of an extended one only the branch or tag is known here.
    rule: ({ path, line, repository: extended }) =>
      extended === undefined && rules.policyDigest !== undefined ? fileAt(rules.baseSha, path, line) : undefined,
  };
}

const MAX_PAGE_LENGTH = 500;

/** Undefined where it is no page of the web, or would sign its reader in as somebody. */
function pageOf(address: string, base: string): string | undefined {
  const page = URL.canParse(address, base) ? new URL(address, base) : undefined;
  if (page === undefined || !/^https?:$/.test(page.protocol) || page.username !== '' || page.password !== '') {
    return undefined;
  }
  const encoded = encodeMarkdown(page.href);
  return encoded.length > MAX_PAGE_LENGTH ? undefined : encoded;
}

/** The comment's place on the page of its pull request, which all forges name alike; without a comment, the page. */
export function commentUrl({ url }: PullRequest, commentId: string | undefined): string {
  return commentId !== undefined && /^\d+$/.test(commentId) ? `${url}#issuecomment-${commentId}` : url;
}

/** The id of the comment that {@link commentUrl} leads to. */
export function commentIdIn(url: string): string | undefined {
  return /#issuecomment-(\d+)$/.exec(url)?.[1];
}

/** What would end a link in Markdown, or mean something else in it. */
function encodeMarkdown(url: string): string {
  return url.replace(/[!'()*~_|`[\]\\<>]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

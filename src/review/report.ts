import type { CommitStatus, Forge, PullRequest } from '../forges/forge.ts';
import type { Verdict } from './evaluation/verdict.ts';
import { fingerprintIn, REVIEW_MARKER, renderInlines, renderReview } from './rendering/comment.ts';

/** The name shown beside the status. */
const STATUS_CONTEXT = 'gatehouse';

/** What a comment becomes on a forge that cannot delete it alone. */
const RESOLVED_NOTE = '~~Resolved.~~ This no longer applies.';

/**
 * Brings status and comments in line with the verdict, without duplicates. It compares what is there with what
 * should be, and writes the difference: a report that was cut short anywhere is completed by the next one,
 * and an unchanged verdict writes nothing.
 *
 * The status comes last, so that a new status never appears with an old comment.
 */
export async function report(forge: Forge, pullRequest: PullRequest, verdict: Verdict): Promise<void> {
  await reportComment(forge, pullRequest, verdict);
  await reportInlines(forge, pullRequest, verdict);
  await reportStatus(forge, pullRequest, { state: verdict.state, description: verdict.description });
}

/** Sets the status unless it already says this. Returns whether it had to be written. */
export async function reportStatus(
  forge: Forge,
  { repository, head, url }: PullRequest,
  { state, description }: Pick<CommitStatus, 'state' | 'description'>,
): Promise<boolean> {
  const present = await forge.status(repository, head.sha, STATUS_CONTEXT);
  if (present?.state === state && present.description === description) {
    return false;
  }
  await forge.setStatus(repository, head.sha, { context: STATUS_CONTEXT, state, description, targetUrl: url });
  return true;
}

/** Pending, where no status has been set yet. An earlier verdict stays until there is a new one. */
export async function reportPending(forge: Forge, { repository, head, url }: PullRequest): Promise<void> {
  const present = await forge.status(repository, head.sha, STATUS_CONTEXT);
  if (present !== undefined) {
    return;
  }
  await forge.setStatus(repository, head.sha, {
    context: STATUS_CONTEXT,
    state: 'pending',
    description: 'Reviewing by the rules of this repository',
    targetUrl: url,
  });
}

/** Success alone creates no comment; it only updates an earlier one. */
async function reportComment(forge: Forge, pullRequest: PullRequest, verdict: Verdict): Promise<void> {
  const [present, ...superfluous] = (await forge.ownComments(pullRequest)).filter(({ body }) =>
    body.startsWith(REVIEW_MARKER),
  );
  for (const { id } of superfluous) {
    await forge.deleteComment(pullRequest, id);
  }

  const body = renderReview(verdict);
  if (present !== undefined) {
    if (present.body.trim() !== body.trim()) {
      await forge.updateComment(pullRequest, present.id, body);
    }
  } else if (hasSomethingToSay(verdict)) {
    await forge.createComment(pullRequest, body);
  }
}

function hasSomethingToSay({ state, findings, policyFaults }: Verdict): boolean {
  return state !== 'success' || findings.length > 0 || policyFaults.length > 0;
}

async function reportInlines(forge: Forge, pullRequest: PullRequest, verdict: Verdict): Promise<void> {
  const wanted = new Map(renderInlines(verdict).comments.map((comment) => [comment.fingerprint, comment]));
  const posted = new Set<string>();
  const outdated: string[] = [];
  for (const { id, body, line } of await forge.ownInlineComments(pullRequest)) {
    const fingerprint = fingerprintIn(body);
    if (fingerprint === undefined) {
      continue;
    }
    // The forge hides a comment whose line left the change: it is posted again where the line is now.
    if (line !== null && wanted.has(fingerprint) && !posted.has(fingerprint)) {
      posted.add(fingerprint);
    } else {
      outdated.push(id);
    }
  }
  const missing = [...wanted].filter(([fingerprint]) => !posted.has(fingerprint)).map(([, comment]) => comment);
  if (missing.length > 0) {
    const comments = missing.map(({ path, line, body }) => ({ path, line, body }));
    await forge.createInlineComments(pullRequest, pullRequest.head.sha, comments);
  }
  if (outdated.length > 0) {
    await forge.withdrawInlineComments(pullRequest, outdated, RESOLVED_NOTE);
  }
}

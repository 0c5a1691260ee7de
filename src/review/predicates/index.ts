import { addedLines } from './added-lines.ts';
import { additions } from './additions.ts';
import { approvals } from './approvals.ts';
import { assignee } from './assignee.ts';
import { author } from './author.ts';
import { base } from './base.ts';
import { body } from './body.ts';
import { branch } from './branch.ts';
import { changedFiles } from './changed-files.ts';
import { changedLines } from './changed-lines.ts';
import { changesRequested } from './changes-requested.ts';
import { checks } from './checks.ts';
import { commits } from './commits.ts';
import { contributors } from './contributors.ts';
import { deletions } from './deletions.ts';
import { draft } from './draft.ts';
import { files } from './files.ts';
import { fork } from './fork.ts';
import { label } from './label.ts';
import { milestone } from './milestone.ts';
import { onlyFiles } from './only-files.ts';
import type { Predicate } from './predicate.ts';
import { repository } from './repository.ts';
import { reviewsRequested } from './reviews-requested.ts';
import { threads } from './threads.ts';
import { title } from './title.ts';
import { topic } from './topic.ts';
import { visibility } from './visibility.ts';

/** All predicates by name. A new predicate is a file beside this one and a line here. */
export const predicates: ReadonlyMap<string, Predicate> = new Map<string, Predicate>([
  ['title', title],
  ['body', body],
  ['branch', branch],
  ['base', base],
  ['repository', repository],
  ['visibility', visibility],
  ['topic', topic],
  ['author', author],
  ['fork', fork],
  ['draft', draft],
  ['label', label],
  ['assignee', assignee],
  ['milestone', milestone],
  ['files', files],
  ['only_files', onlyFiles],
  ['changed_lines', changedLines],
  ['additions', additions],
  ['deletions', deletions],
  ['changed_files', changedFiles],
  ['added_lines', addedLines],
  ['commits', commits],
  ['contributors', contributors],
  ['approvals', approvals],
  ['changes_requested', changesRequested],
  ['reviews_requested', reviewsRequested],
  ['threads', threads],
  ['checks', checks],
]);

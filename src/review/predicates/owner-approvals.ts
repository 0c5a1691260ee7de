import { shorten } from '../../common/shorten.ts';
import { codeOwners as codeOwnersFact } from '../../facts/code-owners.ts';
import type { Facts } from '../../facts/table.ts';
import type { TeamMembers } from '../../facts/teams.ts';
import { MAX_NAME_LENGTH } from '../limits.ts';
import { count, quotedList, say, type Text, unreadText } from '../text.ts';
import type { Wanted } from './approvals-wanted.ts';
import { bareOwner, isTeam, type Owned, ownedFiles, readCodeOwners } from './code-owners.ts';
import { approvalsAmong, type Counted } from './counted-approvals.ts';
import { compareOutcomes, type Outcome, type OwnedFiles, type OwnersTable, worstOf } from './predicate.ts';
import { couldNotRead } from './team-members.ts';

/** What is kept for showing. A CODEOWNERS file and a change may each have thousands of them. */
const MAX_ROWS = 50;
const MAX_OWNERS = 20;
const MAX_PATH_LENGTH = 500;

interface ByOwners {
  readonly outcome: Outcome;
  readonly found: Text;
  readonly owners?: OwnersTable;
}

/** Whether each changed file that has owners has their approvals. `mayApprove`: whom it is no use to ask. */
export function judgeOwners(
  wanted: Wanted,
  counted: Counted,
  facts: Facts,
  mayApprove: (login: string) => boolean,
): ByOwners {
  const { codeOwners, changedFiles } = facts;
  if (codeOwners.kind !== 'file') {
    return { outcome: 'undecided', found: unusable(codeOwners) };
  }
  const read = readCodeOwners(codeOwners.text, codeOwners.dialect);
  if (read.kind === 'unusable') {
    return { outcome: 'undecided', found: say`a CODEOWNERS file ${read.why}` };
  }
  const judged = [...ownedFiles(changedFiles.files, read)].map((files) =>
    judgeFiles(files, wanted, counted, facts, mayApprove),
  );
  const rows = judged.toSorted((one, other) => compareOutcomes(one.outcome, other.outcome)).map(({ row }) => row);
  const owners: OwnersTable = {
    path: codeOwners.path,
    rows: rows.slice(0, MAX_ROWS),
    leftOut: rows.length - Math.min(rows.length, MAX_ROWS),
    faults: read.faults,
    moreFaults: read.moreFaults,
  };
  const worst = worstOf(judged.map(({ outcome }) => outcome));
  if (worst !== 'matched') {
    const filesOf = (among: typeof judged) => among.reduce((sum, { row }) => sum + row.files, 0);
    const approved = filesOf(judged.filter(({ outcome }) => outcome === 'matched'));
    const found = say`approvals for ${approved} of ${count(filesOf(judged), 'file')} with owners`;
    const unreadable = [...new Set(judged.flatMap(({ row }) => row.unreadable))];
    return { outcome: worst, found: say`${found}${couldNotRead(worst, unreadable)}`, owners };
  }
  const said = approvedBy(counted.certain);
  if (!changedFiles.complete) {
    return { outcome: 'undecided', found: say`${said}; the list of changed files is not complete`, owners };
  }
  return {
    outcome: 'matched',
    found:
      rows.length === 0
        ? say`no changed file that has an owner in ${codeOwners.path}`
        : say`${said}; every owned file has its owners' approval`,
    owners,
  };
}

function unusable(codeOwners: Exclude<Facts['codeOwners'], { kind: 'file' }>): Text {
  switch (codeOwners.kind) {
    case 'unread':
      return unreadText(codeOwnersFact);
    case 'unusable':
      return say`a CODEOWNERS file that cannot be read: ${[codeOwners.reason]}`;
    case 'absent':
      return say`no CODEOWNERS file on the base branch, so the change has no known owners`;
  }
}

/** Files with the same owners need enough approvals, and as many of them by owners as each file needs. */
function judgeFiles(
  [{ owners, invalid, patterns }, paths]: readonly [Owned, readonly string[]],
  wanted: Wanted,
  counted: Counted,
  facts: Facts,
  mayApprove: (login: string) => boolean,
): { readonly outcome: Outcome; readonly row: OwnedFiles } {
  const own = {
    people: owners.filter((owner) => !isTeam(owner)).map(bareOwner),
    teams: owners.filter(isTeam).map(bareOwner),
  };
  const anyOf = { people: [...wanted.people, ...own.people], teams: [...wanted.teams, ...own.teams] };
  const same = { named: wanted.people, notFrom: wanted.notFrom };
  const all = approvalsAmong({ ...same, count: wanted.count, from: anyOf }, counted, facts);
  const each = approvalsAmong({ ...same, count: wanted.each, from: own }, counted, facts);
  const missingOwners = wanted.each - each.counting.length;
  const missing = Math.max(missingOwners, wanted.count - all.counting.length, 0);
  const outcome = worstOf([all.outcome, each.outcome]);
  const shown = owners.length === 0 ? invalid : owners;
  const askable = missingOwners >= missing ? own : anyOf;
  const mayStill = (login: string) => mayApprove(login) && !all.counting.includes(login);
  return {
    outcome,
    row: {
      patterns: shortened(patterns),
      path: shorten(paths[0] ?? '', MAX_PATH_LENGTH),
      files: paths.length,
      owners: shortened(shown.map(named)),
      moreOwners: shown.length - Math.min(shown.length, MAX_OWNERS),
      approvedBy: shortened(all.counting),
      missing,
      missingFrom: missing === 0 ? [] : shortened(whoMayApprove(askable, facts, mayStill)),
      unreadable: outcome === 'undecided' ? shortened([...new Set([...all.unreadable, ...each.unreadable])]) : [],
    },
  };
}

/** Those who may, and teams that may have somebody who does. An owner's e-mail address says nothing of an account. */
function whoMayApprove(
  { people, teams }: { readonly people: readonly string[]; readonly teams: readonly string[] },
  facts: Facts,
  mayApprove: (login: string) => boolean,
): readonly string[] {
  return [
    ...people.filter((login) => !login.includes('@') && mayApprove(login)),
    ...teams.filter((team) => mayHave(facts.teams.get(team), mayApprove)).map((team) => `@${team}`),
  ];
}

function mayHave(members: TeamMembers | undefined, mayApprove: (login: string) => boolean): boolean {
  return members?.kind !== 'team' || members.logins.some(mayApprove);
}

/** As policies write them: teams with an `@`, people without. */
function named(owner: string): string {
  return isTeam(owner) ? `@${bareOwner(owner)}` : owner.replace(/^@/, '');
}

function shortened(names: readonly string[]): readonly string[] {
  return names.slice(0, MAX_OWNERS).map((name) => shorten(name, MAX_NAME_LENGTH));
}

export function approvedBy(logins: readonly string[]): Text {
  return logins.length === 0
    ? say`no approval that counts`
    : say`${count(logins.length, 'approval')}, by ${quotedList(logins)}`;
}

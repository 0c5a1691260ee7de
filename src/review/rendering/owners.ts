import type { Reason } from '../evaluation/reasons.ts';
import type { OwnedFiles, OwnersTable } from '../predicates/predicate.ts';
import { count, joinTexts, quotedList, say, type Text } from '../text.ts';
import type { Finding } from '../verdict.ts';

export const OWNERS_COLUMNS = ['Files', 'Owners', 'Approved by', 'Missing'] as const;

/** Limits of each cell. The others are counted. */
const MAX_NAMES_SHOWN = 5;
const MAX_PATTERNS_SHOWN = 2;
const MAX_FAULTS_SHOWN = 5;

/** The tables of owners of these findings, each once, with the first rule that it is of. */
export function ownersOf(findings: readonly Finding[]): readonly (OwnersTable & { readonly ruleId: string })[] {
  const tables = findings.flatMap(({ ruleId, reasons }) =>
    tablesIn(reasons)
      .filter(({ rows }) => rows.length > 0)
      .map((table) => ({ ruleId, table })),
  );
  return [...Map.groupBy(tables, ({ table }) => JSON.stringify(table)).values()].flatMap(([first]) =>
    first === undefined ? [] : [{ ...first.table, ruleId: first.ruleId }],
  );
}

function tablesIn(reasons: readonly Reason[]): readonly OwnersTable[] {
  return reasons.flatMap((reason) => {
    if (reason.kind === 'one-of') {
      return tablesIn(reason.ways.flat());
    }
    return reason.owners ?? [];
  });
}

/** The cells of a row: files, owners, who has approved, who is missing. */
export function ownersRow({ patterns, path, files, owners, moreOwners, ...row }: OwnedFiles): readonly Text[] {
  return [
    files === 1 ? say`${path}` : say`${quotedList(patterns, MAX_PATTERNS_SHOWN)} (${count(files, 'file')})`,
    namesOf(owners, owners.length + moreOwners),
    namesOf(row.approvedBy),
    missingOf(row),
  ];
}

function namesOf(names: readonly string[], total = names.length): Text {
  const shown = quotedList(names.slice(0, MAX_NAMES_SHOWN));
  return total > MAX_NAMES_SHOWN ? say`${shown}${[` and ${total - MAX_NAMES_SHOWN} more`]}` : shown;
}

function missingOf({
  missing,
  missingFrom,
  unreadable,
}: Pick<OwnedFiles, 'missing' | 'missingFrom' | 'unreadable'>): Text {
  const unread = unreadable.length === 0 ? [] : say`the members of ${namesOf(unreadable)} could not be read`;
  if (missing === 0) {
    return unread;
  }
  const whom =
    missingFrom.length === 0
      ? say`${missing}, and no other owner may approve`
      : missingFrom.length === missing
        ? namesOf(missingFrom)
        : say`${missing} of ${namesOf(missingFrom)}`;
  return joinTexts([whom, unread], '; ');
}

/** What is wrong with CODEOWNERS, line by line. */
export function ownersFaults({ path, faults, moreFaults }: OwnersTable): readonly Text[] {
  const shown = faults.slice(0, MAX_FAULTS_SHOWN).map(({ line, what }) => say`${path}, line ${line}: ${what}`);
  const more = faults.length - shown.length + moreFaults;
  return more === 0 ? shown : [...shown, say`${path} has ${count(more, 'more line')} with faults`];
}

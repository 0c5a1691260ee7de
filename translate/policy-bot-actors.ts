import { unknownKey } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { flagOf, type SourceNode, textsOf } from './source.ts';

/** Whom policy-bot names: anybody who is one of these. */
export interface Actors {
  /** Logins, teams as `@organisation/team`, and members of organisations as `@organisation/*`. */
  readonly names: readonly string[];
  /** Anybody with at least this permission, too. Of several, the least. */
  readonly permission?: string;
  /** Whether `names` and `permission` are all who were named. */
  readonly complete: boolean;
  /** Whether nobody was named at all. */
  readonly empty: boolean;
}

const ACTOR_KEYS = ['users', 'teams', 'organizations', 'permissions', 'admins', 'write_collaborators'] as const;
type ActorKey = (typeof ACTOR_KEYS)[number];

/** From the one that allows most. */
const PERMISSIONS = ['admin', 'maintain', 'write', 'triage', 'read'];

export function isActorKey(key: string): key is ActorKey {
  return ACTOR_KEYS.some((known) => known === key);
}

/** `others`: keys that are read elsewhere. */
export function actorsOf(node: SourceNode, findings: Findings, others: readonly string[] = []): Actors {
  const names: string[] = [];
  const permissions: string[] = [];
  let complete = true;
  let empty = true;
  for (const [key, inner] of node.entries()) {
    if (!isActorKey(key)) {
      if (!others.includes(key)) {
        unknownKey(key, inner, findings);
        complete = false;
      }
      continue;
    }
    const read = readActors(key, inner, findings);
    names.push(...read.names);
    permissions.push(...read.permissions);
    complete &&= read.complete;
    empty &&= read.empty;
  }
  const permission = PERMISSIONS.findLast((known) => permissions.includes(known));
  return { names: [...new Set(names)], ...(permission === undefined ? {} : { permission }), complete, empty };
}

interface ReadActors {
  readonly names: readonly string[];
  readonly permissions: readonly string[];
  readonly complete: boolean;
  readonly empty: boolean;
}

/** How people are named there, and how here. */
const NAMES = {
  users: { form: /^(?!codeowners$)[\w.-]+(?:\[bot\])?$/i, what: 'login', written: (name: string) => name },
  teams: {
    form: /^[\w.-]+\/[\w.-]+$/,
    what: 'team ("organisation/team")',
    written: (name: string) => `@${name}`,
  },
  organizations: { form: /^[\w.-]+$/, what: 'organisation', written: (name: string) => `@${name}/*` },
};

function readActors(key: ActorKey, node: SourceNode, findings: Findings): ReadActors {
  const nothing: ReadActors = { names: [], permissions: [], complete: true, empty: true };
  if (key === 'admins' || key === 'write_collaborators') {
    const permission = key === 'admins' ? 'admin' : 'write';
    return flagOf(node) === true ? { ...nothing, permissions: [permission], empty: false } : nothing;
  }
  const values = textsOf(node);
  if (values.length === 0) {
    return nothing;
  }
  const found = { ...nothing, empty: false };
  switch (key) {
    case 'permissions': {
      const others = values.filter((value) => !PERMISSIONS.includes(value));
      if (others.length > 0) {
        findings.lost(node.line, `${quoted(others.join(', '))} is no permission`, 'Correct it first.');
      }
      return { ...found, permissions: values, complete: others.length === 0 };
    }
    case 'users':
    case 'organizations':
    case 'teams': {
      const { form, what, written } = NAMES[key];
      const usable = values.filter((value) => form.test(value));
      if (usable.length < values.length) {
        const others = values.filter((value) => !usable.includes(value));
        findings.lost(node.line, `${others.map(quoted).join(', ')} is no ${what}`, 'Correct it first.');
      }
      return { ...found, names: usable.map(written), complete: usable.length === values.length };
    }
  }
}

import type { Fault } from '../src/review/policy/faults.ts';
import { translateDco } from './dco.ts';
import type { Dialect } from './dialect.ts';
import { type Finding, makeFindings } from './findings.ts';
import { translateMergeable } from './mergeable.ts';
import { translatePolicyBot } from './policy-bot.ts';
import { readSource } from './source.ts';
import { writePolicy } from './write-policy.ts';

export const KINDS = ['policy-bot', 'mergeable', 'dco'] as const;
export type Kind = (typeof KINDS)[number];

const DIALECTS: Readonly<Record<Kind, Dialect>> = {
  'policy-bot': translatePolicyBot,
  mergeable: translateMergeable,
  dco: translateDco,
};

export function isKind(text: string): text is Kind {
  return KINDS.some((kind) => kind === text);
}

export type TranslatedText =
  | { readonly ok: true; readonly policy: string; readonly findings: readonly Finding[] }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Translates the text of a file of another program. `file`: its name in faults. Never throws, whatever the text. */
export function translateText(kind: Kind, text: string, file: string): TranslatedText {
  // The DCO App takes a file without content for its defaults.
  const isEmpty = text.split('\n').every((line) => /^\s*(?:#.*|---\s*)?$/.test(line));
  const findings = makeFindings();
  const source = readSource(kind === 'dco' && isEmpty ? '{}' : text, file, findings.wrong);
  if (!source.ok) {
    return source;
  }
  const translation = DIALECTS[kind](source.root, findings);
  const faults = findings.faults().map((fault) => ({ file, column: 1, ...fault }));
  if (faults.length > 0) {
    return { ok: false, faults };
  }
  const all = findings.all();
  const lost = all.filter((finding) => finding.kind === 'lost');
  const title = `Translated from ${kind}. The lines that comments name are those of its file.`;
  return { ok: true, policy: writePolicy(translation, title, lost), findings: all };
}

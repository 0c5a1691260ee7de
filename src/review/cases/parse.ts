import { LineCounter } from 'yaml';
import type * as z from 'zod';
import { MAX_CASES_ALIASES, MAX_CASES_BYTES, MAX_CASES_NODES } from '../limits.ts';
import { type Fault, faultCollector } from '../policy/faults.ts';
import { schemaFaults } from '../policy/schema-faults.ts';
import { readYaml, type YamlLimits } from '../policy/yaml.ts';
import type { Given } from './given.ts';
import { casesFileSchema, type OutcomeWords, policyCasesSchema } from './schema.ts';

/** One case of a file. */
export interface Case {
  readonly file: string;
  /** The line of its first key. */
  readonly line: number;
  readonly name?: string;
  readonly given: Given;
  readonly expect: readonly Expectation[];
}

export interface Expectation {
  readonly rule: string;
  readonly outcome: OutcomeWords;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

export type ParsedCases =
  | { readonly ok: true; readonly cases: readonly Case[] }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** A policy file with cases beside its rules, or a file of cases alone. */
export type CasesRole = 'policy' | 'cases';

const LIMITS: YamlLimits = {
  bytes: MAX_CASES_BYTES,
  nodes: MAX_CASES_NODES,
  aliases: MAX_CASES_ALIASES,
  characters: MAX_CASES_BYTES,
};

/**
 * Reads the cases of a file, or everything that is wrong with them. Never throws, whatever the text. What it takes is
 * bounded by the worker that runs it: call ReviewWorkers.parseCases.
 */
export function parseCases(text: string, file: string, role: CasesRole): ParsedCases {
  const lines = new LineCounter();
  const faults = faultCollector(file, lines);
  const yaml = role === 'policy' ? readYaml(text, lines, faults) : readYaml(text, lines, faults, LIMITS);
  if (yaml === undefined) {
    return { ok: false, faults: faults.all() };
  }
  const schema: z.ZodType<{ cases?: RawCase[] | undefined }> = role === 'policy' ? policyCasesSchema : casesFileSchema;
  const shape = schema.safeParse(yaml.value, { reportInput: true });
  if (!shape.success) {
    schemaFaults(schema, shape.error.issues, yaml, faults);
  }
  const found = faults.all();
  if (found.length > 0 || !shape.success) {
    return { ok: false, faults: found };
  }
  const cases = (shape.data.cases ?? []).map(({ name, given, expect }, index): Case => {
    const path = ['cases', index];
    return {
      file,
      line: yaml.lineOf(path),
      ...(name === undefined ? {} : { name }),
      given,
      expect: Object.entries(expect).map(([rule, outcome]) => {
        const { line, col } = lines.linePos(yaml.keyPositionOf([...path, 'expect'], rule));
        return { rule, outcome, line: Math.max(line, 1), column: Math.max(col, 1) };
      }),
    };
  });
  return { ok: true, cases };
}

interface RawCase {
  readonly name?: string | undefined;
  readonly given: Given;
  readonly expect: Readonly<Record<string, OutcomeWords>>;
}

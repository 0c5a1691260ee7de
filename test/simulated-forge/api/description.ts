import { readFileSync } from 'node:fs';

export type Schema = Readonly<Record<string, unknown>>;

/** One operation of a published description, without its prose. References are `#/schemas/NAME`. */
export interface Operation {
  readonly query: Readonly<Record<string, Schema>>;
  readonly path: Readonly<Record<string, Schema>>;
  /** Of a JSON body. Absent: the operation takes none. */
  readonly body?: { readonly required: boolean; readonly schema: Schema };
  /** By status. `null`: no JSON body is described. */
  readonly answers: Readonly<Record<string, Schema | null>>;
}

export interface Description {
  readonly source: string;
  /** By method and path, as in `GET /repos/{owner}/{repo}`. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

export function readDescription(file: URL): Description {
  return JSON.parse(readFileSync(file, 'utf8'));
}

type Described = { readonly source: string } & Readonly<Record<string, object | string>>;

/** JSON with one schema a line, so that a new version of a description can be read as a difference. */
export function printDescription({ source, ...maps }: Described): string {
  const parts = Object.entries(maps).map(([name, map]) => `${JSON.stringify(name)}:{\n${lines(Object(map))}\n}`);
  return `{"source":${JSON.stringify(source)},\n${parts.join(',\n')}}\n`;
}

function lines(map: object): string {
  return Object.entries(map)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',\n');
}

/** What a command may use of its process. */
export interface Terminal {
  readonly stdin: AsyncIterable<Buffer | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string | Uint8Array): unknown;
}

/** Colours are for people: never in a pipe or a file, and not where NO_COLOR (no-color.org) says so. */
export function hasColours({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>): boolean {
  return stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

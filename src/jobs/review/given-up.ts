import { ForgeError } from '../../forges/port/forge-error.ts';

const GIVEN_UP: Readonly<Record<ForgeError['kind'], string>> = {
  unavailable: 'the forge gave no usable answer',
  'rate-limited': 'the rate limit of the forge was reached',
  refused: 'Gatehouse’s credentials have no permission',
  invalid: 'the forge rejected a request',
  'too-large': 'a file or a list is larger than Gatehouse reads',
  'not-a-file': 'a path is a directory, a link or a submodule instead of a file',
};

/** What a status says after the last attempt. */
export function givenUpBecause(error: unknown): string {
  const reason = error instanceof ForgeError ? GIVEN_UP[error.kind] : 'an internal error, see the log of Gatehouse';
  return `Could not be reviewed: ${reason}`;
}

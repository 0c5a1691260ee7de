import { createHash, createPublicKey } from 'node:crypto';
import type { Run } from './run.ts';

/** Who signs: the holder of a key, or, without one, whom an OpenID Connect token names (keyless). */
export interface Signer {
  readonly key: string | undefined;
  readonly plainHttp: boolean;
}

/** A key needs no transparency log; without a key, the log is what proves when it was signed. */
function optionsOf({ key, plainHttp }: Signer): readonly string[] {
  return [
    '--yes',
    ...(key === undefined ? [] : ['--key', key, '--tlog-upload=false']),
    ...(plainHttp ? ['--allow-http-registry'] : []),
  ];
}

/** `artefact`: as `name@sha256:…`. */
export async function sign(run: Run, artefact: string, signer: Signer): Promise<void> {
  await run('cosign', 'sign', ...optionsOf(signer), artefact);
}

/** What is said of an artefact, and as cosign names its type. */
export interface Statement {
  readonly type: 'cyclonedx' | 'slsaprovenance1';
  /** Path of the predicate. */
  readonly file: string;
}

/** Signs a statement about an artefact, and stores it beside the artefact. */
export async function attest(run: Run, artefact: string, { type, file }: Statement, signer: Signer): Promise<void> {
  await run('cosign', 'attest', ...optionsOf(signer), '--type', type, '--predicate', file, artefact);
}

/** What {@link attestFile} writes. */
export const statementFile = (file: string, type: Statement['type'], { key }: Signer) =>
  `${file}.${type}.${key === undefined ? 'bundle' : 'att'}`;

/** Signs a statement about a file. */
export async function attestFile(run: Run, file: string, statement: Statement, signer: Signer): Promise<void> {
  const { type, file: predicate } = statement;
  const options = optionsOf({ ...signer, plainHttp: false });
  const output = [signer.key === undefined ? '--bundle' : '--output-signature', statementFile(file, type, signer)];
  await run('cosign', 'attest-blob', ...options, ...output, '--type', type, '--predicate', predicate, file);
}

/** What {@link signFile} writes. */
export const signatureFile = (file: string, { key }: Signer) => `${file}.${key === undefined ? 'bundle' : 'sig'}`;

export async function signFile(run: Run, file: string, signer: Signer): Promise<void> {
  const output = [signer.key === undefined ? '--bundle' : '--output-signature', signatureFile(file, signer)];
  await run('cosign', 'sign-blob', ...optionsOf({ ...signer, plainHttp: false }), ...output, file);
}

/** SHA-256 of the public key that belongs to a key, in hexadecimal. */
export async function fingerprintOf(run: Run, key: string): Promise<string> {
  const pem = await run('cosign', 'public-key', '--key', key);
  return createHash('sha256')
    .update(createPublicKey(pem).export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** Puts a file into a registry, as a layer of its own. `reference`: with a tag. */
export async function uploadFile(
  run: Run,
  file: string,
  { reference, mediaType }: { readonly reference: string; readonly mediaType: string },
  { plainHttp }: Signer,
): Promise<void> {
  const plain = plainHttp ? ['--allow-http-registry'] : [];
  await run('cosign', 'upload', 'blob', ...plain, '--ct', mediaType, '--files', file, reference);
}

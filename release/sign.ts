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

/** Signs a statement about an artefact, and stores it beside the artefact. `type`: as cosign names it. */
export async function attest(
  run: Run,
  artefact: string,
  { type, file }: { readonly type: 'cyclonedx' | 'slsaprovenance1'; readonly file: string },
  signer: Signer,
): Promise<void> {
  await run('cosign', 'attest', ...optionsOf(signer), '--type', type, '--predicate', file, artefact);
}

/** Writes the signature beside the file: `.sig` by a key, else `.bundle`. */
export async function signFile(run: Run, file: string, signer: Signer): Promise<void> {
  const output = signer.key === undefined ? ['--bundle', `${file}.bundle`] : ['--output-signature', `${file}.sig`];
  await run('cosign', 'sign-blob', ...optionsOf({ ...signer, plainHttp: false }), ...output, file);
}

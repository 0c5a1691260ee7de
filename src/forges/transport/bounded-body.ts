import type { Response } from 'undici';

/** The whole body, or undefined when it is larger than `maxBytes`; the rest is then not read. */
export async function readBounded(response: Response, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream, and with it the request.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

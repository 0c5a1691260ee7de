import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync } from 'node:zlib';

/** Fast, and smaller than PostgreSQL's own compression makes such JSON. */
const ZSTD_LEVEL = 1;
/** Usual bodies have 20 to 30 KB: 30 µs of work, of which handing them to another thread would make 250. */
const MAX_IN_PLACE_BYTES = 128 * 1024;

const OUTPUT_CHUNK_BYTES = 4 * 1024;

const compressElsewhere = promisify(zstdCompress);

/** Zstandard (RFC 8878). Large bodies are compressed beside the event loop, so that they do not block other requests. */
export function compress(body: Buffer): Buffer | Promise<Buffer> {
  const options = {
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
    // Tables of the size that this body needs, not of that which any may need.
    pledgedSrcSize: body.length,
    // As much as usual bodies come to, and little enough for Node's own pool of buffers.
    chunkSize: OUTPUT_CHUNK_BYTES,
  };
  return body.length <= MAX_IN_PLACE_BYTES ? zstdCompressSync(body, options) : compressElsewhere(body, options);
}

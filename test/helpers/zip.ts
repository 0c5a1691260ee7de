import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const STORED = 0;

/** One file out of a zip archive, found by the archive's directory at its end (APPNOTE 4.3). */
export function unzip(archive: Buffer, wanted: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || archive.readUInt32LE(end) !== END_OF_DIRECTORY) {
    throw new Error('not a zip archive');
  }
  const entries = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < entries; entry++) {
    const method = archive.readUInt16LE(at + 10);
    const packedSize = archive.readUInt32LE(at + 20);
    const nameLength = archive.readUInt16LE(at + 28);
    const rest = archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    const local = archive.readUInt32LE(at + 42);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === wanted) {
      // The local header repeats the name and may have other extra fields.
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const packed = archive.subarray(start, start + packedSize);
      return method === STORED ? packed : inflateRawSync(packed);
    }
    at += 46 + nameLength + rest;
  }
  throw new Error(`the archive has no ${wanted}`);
}

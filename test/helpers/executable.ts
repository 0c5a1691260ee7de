import { rename, rm, writeFile } from 'node:fs/promises';
import { execute } from './execute.ts';

/**
 * Writes a program that can be started at once.
 *
 * A child process that is started meanwhile holds a copy of every open file until its exec. Were the
 * program open for writing here, starting it could fail with ETXTBSY; so a process with one thread writes the file.
 */
export async function writeExecutable(path: string, content: string | Uint8Array): Promise<void> {
  const data = `${path}.data`;
  await writeFile(data, content);
  await execute('install', ['-m', '755', data, `${path}.part`]);
  await rename(`${path}.part`, path);
  await rm(data);
}

import { openDoor } from './door.ts';

/**
 * A door in a process that does nothing else, to be forked with `--expose-gc`. Its arguments are the settings, in JSON.
 * It tells its port, and for each message how many bytes its buffers hold. It ends when nobody listens any more.
 */
const door = await openDoor(JSON.parse(process.argv[2] ?? '{}'));
process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage().arrayBuffers);
});
process.once('disconnect', () => door[Symbol.asyncDispose]());
process.send?.(door.service.port);

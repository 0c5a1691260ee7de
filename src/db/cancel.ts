import { Socket } from 'node:net';
import type pg from 'pg';

const CANCEL_REQUEST = 80877102;
const REQUEST_BYTES = 16;
const TIMEOUT_MS = 4_000;

/** What the server gave to cancel with, which the types of pg leave out. */
type Cancellable = pg.ClientBase & {
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly secretKey?: number | null;
};

/**
 * Asks the server to cancel what runs on a connection that is not used again. Resolves when it was asked, or could not
 * be: a pooler forgets which server a connection had as soon as that is cut. The server does not notice that a
 * connection was cut while a COMMIT waits for a synchronous standby, and no timeout of a session ends that wait: each
 * cut would leave a backend until no connections are left. Does nothing where nothing runs. Never throws.
 *
 * It is sent in plain text, as by libpq before version 17. Whoever reads it can only cancel statements of this
 * connection.
 */
export function cancelRunning({ host, port, processID, secretKey }: Cancellable): Promise<void> {
  if (host === undefined || port === undefined || processID == null || secretKey == null) {
    return Promise.resolve();
  }
  const request = Buffer.alloc(REQUEST_BYTES);
  for (const [index, value] of [REQUEST_BYTES, CANCEL_REQUEST, processID, secretKey].entries()) {
    request.writeInt32BE(value, index * Int32Array.BYTES_PER_ELEMENT);
  }
  const socket = new Socket();
  socket.unref();
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  // Without a server there is nothing to cancel.
  socket.on('error', () => socket.destroy());
  // The server answers by closing the connection.
  socket.resume();
  socket.connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.end(request);
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProxyAddress {
  /** 127.0.0.1, unless others have to reach it. */
  readonly host?: string;
  readonly port?: number;
}

export type TcpProxy = Awaited<ReturnType<typeof startProxy>>;

/**
 * A TCP relay before a store, for faults that the store itself cannot have. It starts in `pass`.
 * `target` is a URL with a port (`postgres://…`, `redis://…`), or a port on 127.0.0.1. `makeReader` is called for each
 * connection, and what it returns for each piece that the client sends.
 */
export async function startProxy(
  target: string | number,
  { host = '127.0.0.1', port: wanted = 0 }: ProxyAddress = {},
  makeReader?: () => (piece: Buffer) => void,
) {
  const url = new URL(typeof target === 'number' ? `tcp://127.0.0.1:${target}` : target);
  let upstream = addressOf(url);
  const clients = new Set<Socket>();
  let open = 0;
  let lateness = 0;
  let resets = false;
  let gate = openGate();

  /** The next piece waits for the one before it, its own lateness, and the gate. */
  const forward = (from: Socket, to: Socket, connected: Promise<void>) => {
    let turn: Promise<unknown> = connected;
    const inTurn = (deliver: () => void) => {
      const due = lateness > 0 ? sleep(lateness) : undefined;
      turn = turn
        .then(() => due)
        .then(() => gate.opened)
        .then(deliver);
    };
    from.on('data', (piece) => inTurn(() => to.writable && to.write(piece)));
    from.once('end', () => inTurn(() => to.writable && to.end()));
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (resets) {
      client.resetAndDestroy();
      return;
    }
    clients.add(client);
    open += 1;
    const target = new Socket({ allowHalfOpen: true });
    const connected = gate.opened.then(() => {
      if (!client.destroyed) {
        target.connect(upstream).setNoDelay();
      }
    });
    // A fault of one side is passed on to the other as a reset, which is what TCP would have done.
    target.on('error', () => client.resetAndDestroy());
    client.on('error', () => target.resetAndDestroy());
    client.once('close', () => {
      clients.delete(client);
      target.destroy();
    });
    // A client that gives up says so in either way, and while the relay hangs there is no 'close' to its 'end'.
    let left = false;
    for (const event of ['end', 'close']) {
      client.once(event, () => {
        if (!left) {
          open -= 1;
        }
        left = true;
      });
    }
    if (makeReader !== undefined) {
      client.on('data', makeReader());
    }
    forward(client, target, connected);
    forward(target, client, connected);
  });
  server.listen(wanted, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url.host = `127.0.0.1:${port}`;

  const cut = () => {
    for (const client of clients) {
      client.resetAndDestroy();
    }
  };
  const forwardAgain = async (milliseconds: number) => {
    lateness = milliseconds;
    resets = false;
    gate.open();
    gate = openGate();
  };
  return {
    port,
    url: url.href,
    get open() {
      return open;
    },
    /** Forwards everything; what `hang` held back goes first. */
    pass: (): Promise<void> => forwardAgain(0),
    /** Forwards every piece this many milliseconds late, each way, in order. */
    delay: (milliseconds: number): Promise<void> => forwardAgain(milliseconds),
    /** Accepts connections and forwards nothing; those that are open freeze. */
    async hang() {
      resets = false;
      if (gate.isOpen) {
        gate = closedGate();
      }
    },
    /** Resets every connection, and each new one. It keeps its port, which another process could take. */
    reset() {
      resets = true;
      cut();
    },
    /** Resets the connections that are open, once; new ones are treated as before. */
    cut,
    /** New connections lead to this URL's host and port; those that are open stay where they are. */
    lead(to: string) {
      upstream = addressOf(new URL(to));
    },
    async close() {
      if (!server.listening) {
        return;
      }
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}

function addressOf({ hostname, port }: URL): { readonly host: string; readonly port: number } {
  return { host: hostname, port: Number(port) };
}

interface Gate {
  readonly isOpen: boolean;
  readonly opened: Promise<void>;
  open(): void;
}

function openGate(): Gate {
  return { isOpen: true, opened: Promise.resolve(), open() {} };
}

function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { isOpen: false, opened: promise, open: resolve };
}

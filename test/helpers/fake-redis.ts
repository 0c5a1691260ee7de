import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/**
 * Speaks the protocol of Redis and has no data: for what a real one says only in a cluster, as a Sentinel or in trouble. `answer`
 * gets a command in lower case with its arguments, and returns a reply of RESP 2 without its last line end.
 */
export async function startFakeRedis(answer: (command: string, args: readonly string[]) => string | undefined) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (part) => {
      text += part.toString('latin1');
      for (let read = readCommand(text); read !== undefined; read = readCommand(text)) {
        const [command = '', ...args] = read.words;
        text = text.slice(read.length);
        socket.write(`${answer(command.toLowerCase(), args) ?? '+OK'}\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

export function resp(words: readonly string[]): string {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word])].join('\r\n');
}

function readCommand(text: string): { readonly words: readonly string[]; readonly length: number } | undefined {
  const words: string[] = [];
  let at = text.indexOf('\r\n') + 2;
  const count = Number(/^\*(\d+)\r\n/.exec(text)?.[1] ?? Number.NaN);
  while (words.length < count) {
    const [head = '', length = ''] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? [];
    const from = at + head.length;
    if (head === '' || text.length < from + Number(length) + 2) {
      return undefined;
    }
    words.push(text.slice(from, from + Number(length)));
    at = from + Number(length) + 2;
  }
  return words.length === count ? { words, length: at } : undefined;
}

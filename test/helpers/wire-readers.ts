/** Frames of a stream: `lengthOf` says how long the first one is, undefined as long as it cannot be known. */
function makeFrames(lengthOf: (bytes: Buffer) => number | undefined, onFrame: (frame: Buffer) => void) {
  let rest: Buffer = Buffer.alloc(0);
  return (piece: Buffer) => {
    rest = Buffer.concat([rest, piece]);
    for (let length = lengthOf(rest); length !== undefined && length <= rest.length; length = lengthOf(rest)) {
      onFrame(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

/**
 * Reads what a PostgreSQL client sends ("Message Formats" of its documents), and tells the text of each statement when
 * it is executed, prepared ones included.
 */
export function statementReader(onStatement: (text: string) => void): (piece: Buffer) => void {
  const prepared = new Map<string, string>();
  let bound = '';
  let started = false;
  return makeFrames(
    (bytes) => {
      // The first message has no type.
      const at = started ? TYPE_BYTES : 0;
      return bytes.length < at + LENGTH_BYTES ? undefined : at + bytes.readUInt32BE(at);
    },
    (frame) => {
      if (!started) {
        started = true;
        return;
      }
      const [first = '', second = ''] = frame.toString('utf8', TYPE_BYTES + LENGTH_BYTES).split('\0', 2);
      switch (String.fromCharCode(frame[0] ?? 0)) {
        case 'Q':
          onStatement(first);
          break;
        case 'P':
          prepared.set(first, second);
          break;
        case 'B':
          bound = prepared.get(second) ?? '';
          break;
        case 'E':
          onStatement(bound);
          break;
        default:
      }
    },
  );
}

/** Reads what a Redis client sends (RESP arrays of bulk strings), and tells the name of each command. */
export function commandReader(onCommand: (name: string) => void): (piece: Buffer) => void {
  return makeFrames(
    (bytes) => {
      const [count = 0, begin] = numberAt(bytes, 0);
      let at = begin;
      for (let part = 0; part < count && at !== undefined; part++) {
        const [length, from] = numberAt(bytes, at);
        at = from === undefined || length === undefined ? undefined : from + length + '\r\n'.length;
      }
      return at;
    },
    (frame) => onCommand((frame.toString('latin1').split('\r\n', 3)[2] ?? '').toLowerCase()),
  );
}

/** The number of a line such as `*3` or `$5`, and where the next line begins. */
function numberAt(bytes: Buffer, at: number): [number, number] | [undefined, undefined] {
  const end = bytes.indexOf('\r\n', at);
  return end < 0 ? [undefined, undefined] : [Number(bytes.toString('latin1', at + 1, end)), end + '\r\n'.length];
}

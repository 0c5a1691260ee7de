import { describeError, makeLog } from '../../src/log.ts';
import test from '../helpers/test.ts';

test('an error keeps its type, message, code and causes', (t) => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const described = describeError(new TypeError('could not connect', { cause }));
  t.like(described, {
    type: 'TypeError',
    message: 'could not connect',
    cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED' },
  });
});

test('an error loses what else it carries, rows and parameters, and the credentials of a URL', (t) => {
  const error = Object.assign(new Error('cannot reach postgres://user:password@db'), { detail: 'a row', where: 'x' });
  const { stack, ...described } = describeError(Object.assign(error, { parameters: ['body'] }));
  t.deepEqual(described, { type: 'Error', message: 'cannot reach postgres://***@db' });
  t.false(stack?.includes('password'));
});

test('a chain of causes that leads back to itself ends, and a thrown value that is not an error is described', (t) => {
  t.deepEqual(describeError('redis://:password@host'), { type: 'string', message: 'redis://***@host' });
  const error = new Error('around');
  error.cause = error;
  t.notThrows(() => JSON.stringify(describeError(error)));
});

test("an object with an error's fields is logged as the error, without other fields", (t) => {
  const error = Object.assign(new Error('refused by postgres://user:password@db'), { code: '57P03', detail: 'a row' });
  // As pg-boss reports a failure.
  t.deepEqual(describeError({ ...error, message: error.message, stack: 'Error: refused' }), {
    type: 'object',
    message: 'refused by postgres://***@db',
    code: '57P03',
    stack: 'Error: refused',
  });
});

function logged(fields: object): Readonly<Record<string, unknown>> {
  const lines: string[] = [];
  makeLog('info', { write: (line) => lines.push(line) }).info(fields, 'a message');
  const { time: _time, ...line } = JSON.parse(lines.join(''));
  return line;
}

test('a log line leaves out fields named as secrets, and objects', (t) => {
  const secret = 'hunter2';
  const line = logged({
    delivery: 'one',
    body: secret,
    token: secret,
    signature: secret,
    request: { headers: { authorization: secret }, body: secret },
    config: { forge: { credentials: { token: secret } } },
    list: [{ password: secret }],
  });
  t.deepEqual(line, { level: 'info', delivery: 'one', msg: 'a message' });
});

test('a log line keeps texts, numbers, times, lists of them, and the error', (t) => {
  const until = new Date(0);
  const line = logged({
    queue: 'review',
    number: 7,
    until,
    reasons: ['a', 'b'],
    gone: null,
    err: new Error('refused'),
  });
  t.like(line, { queue: 'review', pullRequest: 7, until: until.toISOString(), reasons: ['a', 'b'], gone: null });
  t.like(line['err'], { type: 'Error', message: 'refused' });
});

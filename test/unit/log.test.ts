import test from 'ava';
import { describeError } from '../../src/log.ts';

test('an error keeps its type, message, code and causes', (t) => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const described = describeError(new TypeError('could not connect', { cause }));
  t.like(described, {
    type: 'TypeError',
    message: 'could not connect',
    cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED' },
  });
});

test('an error loses what else it carries: rows, query text and parameters', (t) => {
  const error = Object.assign(new Error('duplicate key'), { detail: 'Key (id)=(7)', where: 'x', parameters: ['body'] });
  t.deepEqual(Object.keys(describeError(error)).sort(), ['message', 'stack', 'type']);
});

test('the credentials of a URL are left out', (t) => {
  const described = describeError(new Error('cannot reach postgres://user:password@db/gatehouse'));
  t.is(described.message, 'cannot reach postgres://***@db/gatehouse');
  t.false(described.stack?.includes('password'));
});

test('a chain of causes that leads back to itself ends', (t) => {
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

test('what was thrown without being an error is described too', (t) => {
  t.deepEqual(describeError('redis://:password@host'), { type: 'string', message: 'redis://***@host' });
});

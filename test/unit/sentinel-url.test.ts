import test from 'ava';
import { parseSentinelUrl } from '../../src/common/sentinel-url.ts';

const LEAST = {
  tls: false,
  sentinels: [{ host: 'sentinel', port: 26_379 }],
  name: 'mymaster',
  database: 0,
  username: undefined,
  password: undefined,
  sentinelUsername: undefined,
  sentinelPassword: undefined,
};

test('the address of a Sentinel needs a host and the name of the primary', (t) => {
  t.deepEqual(parseSentinelUrl('redis+sentinel://sentinel/mymaster'), LEAST);
});

test('the address of a Sentinel may name several, credentials, TLS and a database', (t) => {
  t.deepEqual(
    parseSentinelUrl(
      'rediss+sentinel://user:p%40:w@a:1,[::1]:2,c/my.master-1/3?sentinelUsername=s&sentinelPassword=x%26y',
    ),
    {
      tls: true,
      sentinels: [
        { host: 'a', port: 1 },
        { host: '::1', port: 2 },
        { host: 'c', port: 26_379 },
      ],
      name: 'my.master-1',
      database: 3,
      username: 'user',
      password: 'p@:w',
      sentinelUsername: 's',
      sentinelPassword: 'x&y',
    },
  );
});

test('a Sentinel gets the password of the primary unless it has its own', (t) => {
  t.like(parseSentinelUrl('redis+sentinel://:pw@sentinel/mymaster'), { password: 'pw', sentinelPassword: 'pw' });
});

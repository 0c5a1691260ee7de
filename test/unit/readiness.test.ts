import { pino } from 'pino';
import type { HealthReport } from '../../src/http/health.ts';
import { makeReadiness } from '../../src/http/readiness.ts';
import { makeMetrics } from '../../src/metrics.ts';
import test from '../helpers/test.ts';

const UP: HealthReport = { database: { status: 'up' }, redis: { status: 'up' } };
const NO_REDIS: HealthReport = { ...UP, redis: { status: 'down', message: 'is not connected' } };
const NO_DATABASE: HealthReport = { ...UP, database: { status: 'down', message: 'refused the connection' } };

function observe(readyWithoutRedis: boolean) {
  const lines: { msg: string; reasons?: readonly string[] }[] = [];
  const state: { health: HealthReport; draining: boolean } = { health: UP, draining: false };
  const metrics = makeMetrics();
  const readiness = makeReadiness({
    health: async () => state.health,
    isDraining: () => state.draining,
    readyWithoutRedis,
    metrics,
    log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
  });
  return { lines, state, readiness, metrics };
}

test('every change of readiness is counted, and logged once, with its reason', async (t) => {
  const { lines, state, readiness, metrics } = observe(false);
  for (const health of [UP, UP, NO_REDIS, NO_REDIS, NO_DATABASE, UP]) {
    state.health = health;
    await readiness();
  }
  state.draining = true;
  await readiness();
  t.deepEqual(
    lines.map(({ msg, reasons }) => [msg, ...(reasons ?? [])]),
    [['ready'], ['not ready', 'redis: is not connected'], ['ready'], ['not ready', 'service: is shutting down']],
  );
  const page = await metrics.registry.metrics();
  t.regex(page, /^gatehouse_readiness_changes_total\{to="ready"\} 2$/m);
  t.regex(page, /^gatehouse_readiness_changes_total\{to="unready"\} 2$/m);
});

test('without Redis a service is ready where it may be, and not without the database', async (t) => {
  for (const allowed of [true, false]) {
    const { state, readiness } = observe(allowed);
    state.health = NO_REDIS;
    t.is((await readiness()).ready, allowed);
    state.health = NO_DATABASE;
    t.false((await readiness()).ready);
  }
});

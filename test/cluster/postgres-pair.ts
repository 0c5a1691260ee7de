import { eventually } from './eventually.ts';
import type { Namespace } from './namespace.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './pods.ts';

const IMAGE = 'postgres:17-alpine';
/** `postgres` of the Alpine variant. */
const USER_ID = 70;
const SERVICE = 'database';
const PASSWORD = 'a password of the tests';
const STANDBY = 'second';
const DATA = '/var/lib/postgresql/data/pgdata';

/** A primary and its synchronous standby, and a Service that leads to one of them. */
export interface PostgresPair {
  readonly url: string;
  /** Runs a query on the server that the Service leads to. */
  sql(query: string): Promise<string>;
  /** Kills the primary, promotes the standby, and has the Service lead to it. Resolves when it can write. */
  failOver(): Promise<void>;
}

export async function startPostgresPair(at: Namespace): Promise<PostgresPair> {
  let primary = 'first';
  const psql = async (pod: string, query: string) =>
    (await at.kubectl(['exec', '-i', pod, '--', 'psql', '-U', 'gatehouse', '-d', 'gatehouse', '-qtA'], query)).trim();

  await create(at, [
    service(primary),
    pod(primary, ['postgres', '-c', 'listen_addresses=*'], {
      POSTGRES_USER: 'gatehouse',
      POSTGRES_PASSWORD: PASSWORD,
      POSTGRES_HOST_AUTH_METHOD: 'scram-sha-256\nhost replication all all scram-sha-256',
    }),
  ]);
  await at.kubectl(['wait', '--for=condition=Ready', `pod/${primary}`, '--timeout=120s']);
  const copy = `umask 077; pg_basebackup --pgdata=${DATA} --write-recovery-conf --checkpoint=fast \
    --dbname="host=${SERVICE} user=gatehouse application_name=${STANDBY} password='${PASSWORD}'" && exec postgres -c listen_addresses='*'`;
  await create(at, [pod(STANDBY, ['sh', '-euc', copy], {})]);
  await at.kubectl(['wait', '--for=condition=Ready', `pod/${STANDBY}`, '--timeout=120s']);
  await psql(primary, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
  await psql(primary, 'SELECT pg_reload_conf()');
  await eventually(
    'the standby is synchronous',
    async () => (await psql(primary, 'SELECT sync_state FROM pg_stat_replication')) === 'sync',
  );
  return {
    url: `postgres://gatehouse:${encodeURIComponent(PASSWORD)}@${SERVICE}:5432/gatehouse`,
    sql: (query) => psql(primary, query),
    async failOver() {
      await at.kubectl(['delete', 'pod', primary, '--grace-period=0', '--force']);
      primary = STANDBY;
      // As an operator does it: the Service first leads to a server that is still read-only.
      await at.kubectl(['patch', `service/${SERVICE}`, '-p', JSON.stringify({ spec: { selector: { app: primary } } })]);
      await psql(primary, 'SELECT pg_promote()');
      await eventually(
        'the new primary can write',
        async () => (await psql(primary, 'SELECT pg_is_in_recovery()')) === 'f',
      );
    },
  };
}

function create(at: Namespace, items: readonly object[]): Promise<string> {
  return at.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

function service(app: string): object {
  const metadata = { name: SERVICE };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app }, ports: [{ port: 5432 }] } };
}

function pod(name: string, args: readonly string[], env: Readonly<Record<string, string>>): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { ...RESTRICTED_POD, runAsUser: USER_ID, fsGroup: USER_ID },
      containers: [
        {
          name: 'postgresql',
          image: IMAGE,
          imagePullPolicy: 'IfNotPresent',
          args,
          env: Object.entries({ ...env, PGDATA: DATA }).map(([variable, value]) => ({ name: variable, value })),
          readinessProbe: { exec: { command: ['pg_isready', '-h', '127.0.0.1', '-U', 'gatehouse'] }, periodSeconds: 1 },
          securityContext: RESTRICTED_CONTAINER,
          volumeMounts: [{ name: 'data', mountPath: '/var/lib/postgresql/data' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  };
}

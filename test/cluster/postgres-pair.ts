import { eventually } from './eventually.ts';
import type { Namespace } from './namespace.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './pods.ts';

const IMAGE = 'postgres:17-alpine';
/** `postgres` of the Alpine variant. */
const USER_ID = 70;
const SERVICE = 'database';
const USER = 'gatehouse';
const DATABASE = 'postgres';
const PASSWORD = 'a password of the tests';
const STANDBY = 'second';
const DATA = '/var/lib/postgresql/data/pgdata';

/** A primary and its synchronous standby, and a Service that leads to one of them. */
export interface PostgresPair {
  readonly url: string;
  /** Runs a query on the server that the Service leads to. */
  sql(query: string): Promise<string>;
  /**
   * Kills the primary, has the Service lead to the standby, and promotes that after `meanwhile`. Resolves when it can
   * write.
   */
  failOver(meanwhile: () => Promise<void>): Promise<void>;
}

export async function startPostgresPair(at: Namespace): Promise<PostgresPair> {
  let primary = 'first';
  const psql = async (name: string, query: string) =>
    (
      await at.kubectl(['exec', '-i', name, '--', 'psql', '-h', '/tmp', '-U', USER, '-d', DATABASE, '-qtA'], query)
    ).trim();

  const initialize = `printf %s '${PASSWORD}' > /tmp/password
    initdb --pgdata=${DATA} --username=${USER} --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust
    echo 'host all,replication all all scram-sha-256' >> ${DATA}/pg_hba.conf`;
  await create(at, [service(primary), pod(primary, initialize)]);
  await at.kubectl(['wait', '--for=condition=Ready', `pod/${primary}`, '--timeout=120s']);
  const copy = `pg_basebackup --pgdata=${DATA} --write-recovery-conf --checkpoint=fast \\
    --dbname="host=${SERVICE} user=${USER} application_name=${STANDBY} password='${PASSWORD}'"`;
  await create(at, [pod(STANDBY, copy)]);
  await at.kubectl(['wait', '--for=condition=Ready', `pod/${STANDBY}`, '--timeout=120s']);
  await psql(primary, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
  await psql(primary, 'SELECT pg_reload_conf()');
  await eventually(
    'the standby is synchronous',
    async () => (await psql(primary, 'SELECT sync_state FROM pg_stat_replication')) === 'sync',
  );
  return {
    url: `postgres://${USER}:${encodeURIComponent(PASSWORD)}@${SERVICE}:5432/${DATABASE}`,
    sql: (query) => psql(primary, query),
    async failOver(meanwhile) {
      await at.kubectl(['delete', 'pod', primary, '--grace-period=0', '--force']);
      primary = STANDBY;
      await at.kubectl(['patch', `service/${SERVICE}`, '-p', JSON.stringify({ spec: { selector: { app: primary } } })]);
      await meanwhile();
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

/** `prepare` makes the data. */
function pod(name: string, prepare: string): object {
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
          command: [
            'sh',
            '-euc',
            `umask 077\n${prepare}\nexec postgres -D ${DATA} -c listen_addresses='*' -c unix_socket_directories=/tmp`,
          ],
          readinessProbe: { exec: { command: ['pg_isready', '-h', '127.0.0.1', '-U', 'gatehouse'] }, periodSeconds: 1 },
          securityContext: RESTRICTED_CONTAINER,
          volumeMounts: [{ name: 'data', mountPath: '/var/lib/postgresql/data' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  };
}

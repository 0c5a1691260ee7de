import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { revision, version } from './version.ts';

/** Every metric of the process. One registry per service, so that tests may run several. */
export type Metrics = ReturnType<typeof makeMetrics>;

/** Any number of accounts may set statuses, and each is a series. */
const MAX_LOGINS = 100;

/** The first values are labels, and all later ones together are `other`. */
function boundedLabel(max: number): (value: string) => string {
  const values = new Set<string>();
  return (value) => {
    if (values.size < max) {
      values.add(value);
    }
    return values.has(value) ? value : 'other';
  };
}

export function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Gauges whose names say that they are counters; those without _total say the same, by type.
  for (const kind of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  }

  const buildInfo = new Gauge({
    name: 'gatehouse_build_info',
    help: 'Always 1; the labels say what is running',
    labelNames: ['version', 'revision', 'node'],
    registers,
  });
  buildInfo.set({ version, revision, node: process.version }, 1);

  return {
    registry,
    role: new Gauge({
      name: 'gatehouse_role',
      help: '1 for each role that the process has: door, worker',
      labelNames: ['role'],
      registers,
    }),
    httpRequestSeconds: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from a request to the end of its response',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    deliveries: new Counter({
      name: 'gatehouse_deliveries_total',
      help: 'Signed deliveries by event and outcome',
      labelNames: ['event', 'outcome'],
      registers,
    }),
    rejections: new Counter({
      name: 'gatehouse_rejections_total',
      help: 'Webhook requests that were not acknowledged, by reason',
      labelNames: ['reason'],
      registers,
    }),
    repeatedBodies: new Counter({
      name: 'gatehouse_repeated_bodies_total',
      help: 'Deliveries stored under a new id whose body had been stored before (a replay, or a forge that sends again)',
      registers,
    }),
    secretMatches: new Counter({
      name: 'gatehouse_secret_matches_total',
      help: 'Valid signatures by the secret that matched; when previous stops growing, a rotation is complete',
      labelNames: ['secret'],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'gatehouse_commit_seconds',
      help: 'Time of one transaction that stores a batch of deliveries and their jobs',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    inflightBytes: new Gauge({
      name: 'gatehouse_inflight_bytes',
      help: 'Bytes of bodies being read or waiting for their commit',
      registers,
    }),
    wakeups: new Counter({
      name: 'gatehouse_wakeups_total',
      help: 'Wake-ups of the workers over Redis; after a failed one jobs wait for the next poll',
      labelNames: ['outcome'],
      registers,
    }),
    dependencyUp: new Gauge({
      name: 'gatehouse_dependency_up',
      help: '1 when the last check of the dependency succeeded, else 0',
      labelNames: ['dependency'],
      registers,
    }),
    readinessChanges: new Counter({
      name: 'gatehouse_readiness_changes_total',
      help: 'Changes of readiness by what it became: ready, unready; the log says why',
      labelNames: ['to'],
      registers,
    }),
    jobs: new Gauge({
      name: 'gatehouse_jobs',
      help: 'Unfinished and failed jobs at the last sample; absent while the database does not answer',
      labelNames: ['queue', 'state'],
      registers,
    }),
    oldestWaitingJobSeconds: new Gauge({
      name: 'gatehouse_oldest_waiting_job_seconds',
      help: 'Age of the oldest job that could run and has not started, 0 when none waits',
      registers,
    }),
    reviews: new Counter({
      name: 'gatehouse_reviews_total',
      help: 'Finished reviews by verdict; none means that no policy applies',
      labelNames: ['verdict'],
      registers,
    }),
    observedRules: new Counter({
      name: 'gatehouse_observed_rules_total',
      help: 'Rules of level observe in finished reviews, by outcome: passed, failed, waiting, undecided',
      labelNames: ['outcome'],
      registers,
    }),
    enforcementOff: new Gauge({
      name: 'gatehouse_enforcement_off',
      help: '1 while this worker runs with ENFORCE=false: every status is success, whatever the verdict',
      registers,
    }),
    foreignStatuses: new Counter({
      name: 'gatehouse_foreign_statuses_total',
      help: 'Statuses under Gatehouse’s name that somebody else set on a pull request’s head, by their login',
      labelNames: ['by'],
      registers,
    }),
    staleVerdicts: new Counter({
      name: 'gatehouse_stale_verdicts_total',
      help: 'Changes that a turn found and no webhook had reported: a success that no longer holds, another verdict, a replaced status',
      labelNames: ['why'],
      registers,
    }),
    oldestUnseenSuccessSeconds: new Gauge({
      name: 'gatehouse_oldest_unseen_success_seconds',
      help: 'Time since the success that has waited longest for its turn was judged; 0 when there is none',
      registers,
    }),
    frozenSuccesses: new Counter({
      name: 'gatehouse_frozen_successes_total',
      help: 'Times that a success could not be taken back, because the commit takes no more statuses',
      registers,
    }),
    /** The label of a login there. */
    foreignStatusLogin: boundedLabel(MAX_LOGINS),
    overrides: new Counter({
      name: 'gatehouse_overrides_total',
      help: 'Rules of a pull request that somebody overrode, each once',
      registers,
    }),
    merges: new Counter({
      name: 'gatehouse_merges_total',
      help: 'Merged pull requests, and pushes to default branches that none brought, by outcome, each once',
      labelNames: ['outcome'],
      registers,
    }),
    baselines: new Gauge({
      name: 'gatehouse_baselines',
      help: 'Owners by the state of their baseline: in-force, none, missing, replaced, unreadable, broken; all 0 without POLICY_REPOSITORY',
      labelNames: ['state'],
      registers,
    }),
    tasksEnded: new Counter({
      name: 'gatehouse_tasks_ended_total',
      help: 'Work on policies and changes that was ended because it went over its time or memory, or its result over its size',
      labelNames: ['task', 'limit'],
      registers,
    }),
    reviewSeconds: new Histogram({
      name: 'gatehouse_review_seconds',
      help: 'Time of one review, from the first request to the forge to the last',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    webhookToStatusSeconds: new Histogram({
      name: 'gatehouse_webhook_to_status_seconds',
      help: 'Time from the commit of a delivery to the final status on its pull request',
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
      registers,
    }),
    forgeRequests: new Counter({
      name: 'gatehouse_forge_requests_total',
      help: 'Requests to the forge by status (none: no answer)',
      labelNames: ['forge', 'status'],
      registers,
    }),
    forgeAccessProblem: new Gauge({
      name: 'gatehouse_forge_access_problem',
      help: '1 for the problem that the last check of the credentials found: not-accepted, missing-scope, unreachable; else 0',
      labelNames: ['problem'],
      registers,
    }),
    forgeRateRemaining: new Gauge({
      name: 'gatehouse_forge_rate_remaining',
      help: 'Requests, or points of GraphQL, left in the forge’s current rate limit window',
      labelNames: ['forge', 'api'],
      registers,
    }),
  };
}

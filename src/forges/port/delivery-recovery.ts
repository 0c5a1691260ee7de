/** Webhooks that a forge sent and that were not accepted, where a forge remembers them. */

/** A webhook of one repository, as the forge named it in a delivery's headers (`X-GitHub-Hook-ID`). */
export interface RepositoryHook {
  readonly repository: string;
  readonly hookId: string;
}

/** A webhook that the forge sent and that was not accepted. */
export interface FailedDelivery {
  /** The forge's number for the newest attempt; {@link DeliveryRecovery.redeliver} redelivers this one. */
  readonly id: string;
  /** The delivery id as its header carried it; the same for every attempt. */
  readonly guid: string;
  readonly event: string;
  /** The HTTP status that the newest attempt was answered with; 0 when there was no answer. */
  readonly status: number;
  readonly deliveredAt: string;
  /** Absent for an App's own webhook. */
  readonly hook?: RepositoryHook;
}

/** What GitHub remembers of the webhooks it sent (three days). Gitea and Forgejo offer nothing comparable. */
export interface DeliveryRecovery {
  /** `app`: one list for all repositories. `repository`: one list for each hook, which must then be named. */
  readonly scope: 'app' | 'repository';
  /** Deliveries since then of which no attempt was accepted, oldest first. */
  failedDeliveries(since: Date, hook?: RepositoryHook): Promise<readonly FailedDelivery[]>;
  /** Asks the forge to send it once more, under the same delivery id. */
  redeliver(delivery: FailedDelivery): Promise<void>;
}

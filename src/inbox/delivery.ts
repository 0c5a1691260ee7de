/**
 * A delivery whose signature was good: what its headers and its payload say, and what is stored of it beside its body.
 */
export interface Delivery {
  /** `''` where the forge names no hook. */
  readonly hookId: string;
  readonly deliveryId: string;
  readonly event: string;
  /** Null where the payload names none. */
  readonly repository: string | null;
  readonly pullRequest: number | null;
  /** The digest of the body as received, in hexadecimal. */
  readonly sha256: string;
}

/** The column of each. */
export const COLUMNS = {
  hookId: 'hook_id',
  deliveryId: 'delivery_id',
  event: 'event',
  repository: 'repository',
  pullRequest: 'pull_request',
  sha256: 'body_sha256',
} as const satisfies Readonly<Record<keyof Delivery, string>>;

/** As the door hands it in. */
export interface ReceivedDelivery<Job> extends Omit<Delivery, 'sha256'> {
  /** Repositories that a resync is to look at. */
  readonly resynced: readonly string[];
  /** The job that it makes, if any. */
  readonly job: Job | undefined;
  /** The exact bytes of the body. */
  readonly body: Buffer;
}

/** As the database has it. */
export interface StoredDelivery extends Delivery {
  readonly receivedAt: Date;
}

/** Two hooks of one repository may send one delivery id with two bodies; a forge's retry has the same of both. */
export function deliveryKey(delivery: Pick<Delivery, 'hookId' | 'deliveryId'>): string {
  return JSON.stringify([delivery.hookId, delivery.deliveryId]);
}

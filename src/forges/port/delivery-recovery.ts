/** A webhook that the forge sent, and of which no attempt was accepted. `id` and `status` are of the newest attempt. */
export interface FailedDelivery {
  readonly id: string;
  /** 0: there was no answer. */
  readonly status: number;
  readonly attempts: number;
  readonly firstSentAt: string;
}

export interface DeliveryRecovery {
  /** Those that were first sent since then, the newest first. */
  failed(since: Date): Promise<readonly FailedDelivery[]>;
  /** Under the same delivery id. False: the forge refuses to, or has it no more. */
  redeliver(delivery: FailedDelivery): Promise<boolean>;
}

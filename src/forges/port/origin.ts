/** What requested a job, for who follows it through the logs. Of several deliveries that one job answers, the first. */
export interface Origin {
  /** The forge's id of the delivery. */
  readonly delivery: string;
}

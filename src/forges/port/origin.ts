/** What requested a job: links logs and traces. Of several deliveries that one job answers, the first. */
export interface Origin {
  /** The forge's id of the delivery. */
  readonly delivery: string;
  /** W3C `traceparent` of what put the job in. Absent where that was not traced. */
  readonly traceparent?: string | undefined;
}

/** Values that a span is found by. Names follow OpenTelemetry's semantic conventions where they have one. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface NewSpan {
  /** One of few: a collector groups by it. */
  readonly name: string;
  readonly kind: 'server' | 'consumer';
  /** W3C `traceparent` of the span that caused this one. Without it, or with an invalid one, a trace begins. */
  readonly parent?: string | undefined;
  readonly attributes: Attributes;
}

/** A span while its work runs. */
export interface OpenSpan {
  /** W3C `traceparent`, to be stored with what the work causes. Undefined where nothing is traced. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed. `type` is one of few, and never a message: that may quote others. */
  fail(type: string): void;
}

/** A request that is over. */
export interface FinishedRequest {
  readonly name: string;
  readonly durationMs: number;
  /** Why it failed; one of few. */
  readonly error?: string | undefined;
  readonly attributes: Attributes;
}

/** What is traced: deliveries, jobs and requests to the forge. Never throws, and never waits for the collector. */
export interface Tracing {
  /** Runs the work in a span. */
  run<T>(span: NewSpan, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Adds a request that has just ended to the span whose work made it; it is left out where there is none. */
  addRequest(request: FinishedRequest): void;
  /** Sends what is left, in bounded time. */
  close(): Promise<void>;
}

const NO_SPAN: OpenSpan = { traceparent: undefined, set() {}, fail() {} };

/** Without a collector. */
export const NO_TRACING: Tracing = {
  run: (_span, work) => work(NO_SPAN),
  addRequest() {},
  close: () => Promise.resolve(),
};

/** The attributes that name a repository, `owner/name`, and a pull request of it. */
export function subjectAttributes(repository: string | undefined, pullRequest: number | undefined): Attributes {
  const [owner, name] = repository?.split('/') ?? [];
  return {
    'vcs.owner.name': owner,
    'vcs.repository.name': name,
    'vcs.change.id': pullRequest === undefined ? undefined : String(pullRequest),
  };
}

/** What goes wrong, for whichever requests match, as often as told. */
export interface Fault {
  /** Absent: any. */
  readonly method?: string;
  /** Looked for in the path, without the API's prefix. Absent: any. */
  readonly path?: RegExp;
  /** How often; for ever when absent. */
  readonly times?: number;
  /** Whether the request is carried out first, so that only its answer is lost. */
  readonly afterwards?: boolean;
  readonly fault: FaultKind;
}

type FaultKind =
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** 429, with `Retry-After` in seconds when given. */
  | { readonly kind: 'too-many'; readonly retryAfter?: number }
  /** GitHub's 403 for too much at once. */
  | { readonly kind: 'secondary-limit'; readonly retryAfter?: number }
  /** Accepts the request and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the head and half of the body, then cuts the connection. */
  | { readonly kind: 'drop' }
  /** A page for people, as a proxy sends, with status 200. */
  | { readonly kind: 'html' }
  /** An answer of the test's own. */
  | { readonly kind: 'json'; readonly body: unknown }
  /** The answer with one part of its text replaced, the first time that it occurs. */
  | { readonly kind: 'replace'; readonly text: string; readonly by: string }
  | { readonly kind: 'redirect'; readonly to: string }
  /** A `Link` to the next page, wherever that is. */
  | { readonly kind: 'link'; readonly to: string }
  /** 401 with the request's own credential in its message. */
  | { readonly kind: 'echo' };

export interface Faults {
  add(fault: Fault): void;
  clear(): void;
  /** The first that matches, counted down. */
  take(method: string, path: string): Fault | undefined;
}

export function makeFaults(): Faults {
  let faults: { fault: Fault; left: number }[] = [];
  return {
    add(fault) {
      faults.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    },
    clear() {
      faults = [];
    },
    take(method, path) {
      const found = faults.find(
        ({ fault, left }) =>
          left > 0 && (fault.method ?? method) === method && (fault.path === undefined || fault.path.test(path)),
      );
      if (found !== undefined) {
        found.left -= 1;
      }
      return found?.fault;
    },
  };
}

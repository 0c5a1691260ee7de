/** What goes wrong, for whichever requests match, as often as told. */
export interface Fault {
  readonly method?: string;
  /** Looked for in the path, without the API's prefix. Absent: any. */
  readonly path?: RegExp;
  /** How often; forever when absent. */
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
  | { readonly kind: 'hang' }
  /** 502, and it is carried out when the test says so. */
  | { readonly kind: 'late' }
  /** Sends the head and half of the body, then cuts the connection. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'html' }
  | { readonly kind: 'json'; readonly body: unknown }
  /** The answer with one part of its text replaced, the first time that it occurs. */
  | { readonly kind: 'replace'; readonly text: string; readonly by: string }
  | { readonly kind: 'redirect'; readonly to: string }
  /** A `Link` to the next page, wherever that is. */
  | { readonly kind: 'link'; readonly to: string }
  /** 401 with the request's own credential in its message. */
  | { readonly kind: 'echo' };

/** Something that happens once, when a request matches and is not answered yet. Its answer waits for that. */
export interface Watch {
  readonly method?: string | undefined;
  readonly path: RegExp;
  readonly act: () => unknown;
}

export function makeFaults() {
  let faults: { fault: Fault; left: number }[] = [];
  let watches: Watch[] = [];
  return {
    watch(watch: Watch) {
      watches.push(watch);
    },
    async asked(method: string, path: string) {
      const matching = watches.filter((watch) => (watch.method ?? method) === method && watch.path.test(path));
      watches = watches.filter((watch) => !matching.includes(watch));
      for (const { act } of matching) {
        await act();
      }
    },
    add(fault: Fault) {
      faults.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    },
    clear() {
      faults = [];
      watches = [];
    },
    take(method: string, path: string): Fault | undefined {
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

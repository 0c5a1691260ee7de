/** Shows something once a review takes long; see {@link latePending}. */
export interface LatePending extends AsyncDisposable {
  begin(show: () => Promise<void>): void;
  /** Shows nothing from now on, and waits for what is being shown. Throws what showing it has thrown. */
  end(): Promise<void>;
}

/** Calls `show` when `end` has not come within `afterMs` of `begin`. */
export function latePending(afterMs: number): LatePending {
  let timer: NodeJS.Timeout | undefined;
  let showing: Promise<void> | undefined;

  async function end(): Promise<void> {
    clearTimeout(timer);
    await showing;
  }

  return {
    begin(show) {
      timer ??= setTimeout(() => {
        showing = show();
        // Thrown by `end`, and here nobody waits for it.
        showing.catch(() => {});
      }, afterMs);
    },
    end,
    // Whatever ended the review early says more than this.
    [Symbol.asyncDispose]: () => end().catch(() => {}),
  };
}

/** A second signal within this time is ignored: `deno task` repeats Ctrl-C. */
const DUPLICATE_SIGNAL_MS = 500;

/**
 * The state of the service: starting, ready, stopping. It counts requests in flight, so that a stop
 * can wait for their responses.
 */
export class Lifecycle {
  #state: "starting" | "ready" | "stopping" = "starting";
  #stoppedAt = 0;
  #inFlight = 0;
  readonly #drained = Promise.withResolvers<void>();

  get isStarting(): boolean {
    return this.#state === "starting";
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  get isStopping(): boolean {
    return this.#state === "stopping";
  }

  /** The number of requests without a response. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Ends the start. Returns false if a stop has begun meanwhile. */
  start(): boolean {
    if (this.isStarting) this.#state = "ready";
    return this.isReady;
  }

  /** Counts a request until it has its response. */
  async track(respond: () => Promise<Response>): Promise<Response> {
    this.#inFlight++;
    try {
      return await respond();
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0 && this.isStopping) this.#drained.resolve();
    }
  }

  /** Begins the stop. Returns false if it had begun. A second call after half a second ends the process. */
  stop(): boolean {
    if (this.isStopping) {
      if (performance.now() - this.#stoppedAt > DUPLICATE_SIGNAL_MS) Deno.exit(1);
      return false;
    }
    this.#state = "stopping";
    this.#stoppedAt = performance.now();
    return true;
  }

  /** Waits until all requests have a response. */
  async drain(): Promise<void> {
    if (this.#inFlight > 0) await this.#drained.promise;
  }
}

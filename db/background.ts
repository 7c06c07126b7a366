/*
 * Work that no request waits for: renames, old versions, webhooks. A request that causes such work
 * wakes it. SQL outside the service and other processes cause it too, so the work also asks the
 * database: every few seconds while requests come, and once a minute in an idle service, which then
 * hardly keeps the database busy.
 */

/** A service is idle once no request has come for this time. */
const IDLE_AFTER_MS = 600_000;

/** The interval of an idle service. */
const IDLE_MS = 60_000;

/** The shortest time between two rounds, so that several wake-ups share one. */
const GATHER_MS = 250;

/** Records whether requests come, and wakes idle work when one does. */
export class Activity {
  #lastAt = performance.now();
  readonly #sleeping = new Set<Signal>();

  requestCame(): void {
    const now = performance.now();
    const wasIdle = this.isIdle;
    this.#lastAt = now;
    if (!wasIdle) return;
    for (const signal of this.#sleeping) signal.set();
  }

  get isIdle(): boolean {
    return performance.now() - this.#lastAt >= IDLE_AFTER_MS;
  }

  /**
   * Waits until the signal is set, for at most `ms`. An idle service waits for a minute, or
   * until a request comes.
   */
  async wait(signal: Signal, ms: number): Promise<void> {
    this.#sleeping.add(signal);
    await signal.wait(this.isIdle ? Math.max(ms, IDLE_MS) : ms);
    this.#sleeping.delete(signal);
  }
}

/** Work that is repeated until it is stopped. */
export interface Repeated {
  /** Does the work at once. If it is being done, it is done again. */
  wake(): void;
  stop(): void;
}

/** Does the work at once and then every `everyMs`, or more rarely while the service is idle. */
export function repeat(
  work: () => Promise<void>,
  { everyMs, activity, onError }: {
    everyMs: number;
    activity: Activity;
    onError: (error: unknown) => void;
  },
): Repeated {
  const signal = new Signal();
  let isStopped = false;
  async function run(): Promise<void> {
    while (!isStopped) {
      await work().catch(onError);
      await new Signal().wait(GATHER_MS);
      if (!isStopped) await activity.wait(signal, everyMs - GATHER_MS);
    }
  }
  run();
  return {
    wake: () => signal.set(),
    stop() {
      isStopped = true;
      signal.set();
    },
  };
}

/** A flag that ends a wait: the current one, or the next. */
export class Signal {
  #isSet = false;
  #end = () => {};

  set(): void {
    this.#isSet = true;
    this.#end();
  }

  /** Waits until it is set, for at most `ms`. An unfinished wait does not keep the process alive. */
  async wait(ms?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    if (this.#isSet) resolve();
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    if (timer) Deno.unrefTimer(timer);
    await promise;
    clearTimeout(timer);
    this.#isSet = false;
  }
}

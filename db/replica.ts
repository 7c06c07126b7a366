import type { Load } from "./connections/queue.ts";
import { type DatabaseSettings, openDatabase } from "./database.ts";
import { isConflict } from "./connections/sqlstate.ts";
import { type Question, readiness } from "./connections/gathering.ts";
import type { Watch } from "./connections/tracing.ts";

/** What a request may ask of a replica, until its deadline. */
export interface Reads {
  /**
   * Asks a question as `Operations` does. Gives nothing where the replica does
   * not answer, soon enough for the primary to answer instead.
   */
  read<Ask, Answer>(
    question: Question<Ask, Answer>,
  ): Promise<Answer | undefined>;
  /** The same for a question that finds a few rows by their keys. */
  lookUp<Ask, Answer>(
    question: Question<Ask, Answer>,
  ): Promise<Answer | undefined>;
}

/** A server that follows the primary, and answers reads in its place. */
export interface Replica {
  until(deadline: number): Reads;
  readonly load: Load;
  /** Lets what runs finish for at most `seconds`, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

/** A read waits so long for a replica, and no longer than half of the time it has. */
const PATIENCE_MS = 2_000;

/** One that is away is asked so often whether it is back. */
const ASK_AGAIN_MS = 1_000;

/**
 * Opens the replica, which need not be there: while it is away, requests bring
 * it to mind once a second, and none waits for it. `changed` hears when it is
 * found to be away, and why; and when it is back.
 */
export async function openReplica(
  settings: DatabaseSettings,
  changed: (isAway: boolean, reason?: unknown) => void,
  watch?: Watch,
): Promise<Replica> {
  const database = await openDatabase(settings, watch);
  let state: "there" | "doubtful" | "away" = "there";
  let askedAt = -Infinity;

  function ask(): void {
    const now = performance.now();
    if (now < askedAt + ASK_AGAIN_MS) return;
    askedAt = now;
    const answer = database.until(now + ASK_AGAIN_MS).lookUp(readiness);
    answer.then(() => {
      if (state === "away") changed(false);
      state = "there";
    }, (error) => {
      if (state === "doubtful") changed(true, error);
      state = "away";
    });
  }

  function reading(deadline: number, kind: keyof Reads): Reads["read"] {
    return async (question) => {
      if (state !== "there") {
        ask();
        return undefined;
      }
      const now = performance.now();
      const patience = Math.min(PATIENCE_MS, (deadline - now) / 2);
      try {
        return await database.until(now + patience)[kind](question);
      } catch (error) {
        // A conflict is one statement's, in the way of what the primary has done.
        if (!isConflict(error) && state === "there") {
          state = "doubtful";
          ask();
        }
      }
    };
  }

  return {
    until: (deadline) => ({
      read: reading(deadline, "read"),
      lookUp: reading(deadline, "lookUp"),
    }),
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
  };
}

import type { Caller, Load } from "./connections/queue.ts";
import { type Result, sql, type Statement } from "./connections/sql.ts";
import { isConflict } from "./connections/sqlstate.ts";
import {
  type DatabaseSettings,
  openDatabase,
  type Operations,
  readiness,
} from "./database.ts";

/** A server that follows the primary, and answers callers that may only read. */
export interface Replica {
  /**
   * Operations of a caller that may only read. The replica answers them, or
   * `primary` in its place while it is away. A caller never goes back in time: who
   * was answered by the primary stays there until the replica has replayed as much.
   */
  until(deadline: number, caller: Caller, primary: Operations): Operations;
  readonly load: Load;
  /** Lets running operations finish for at most `seconds`, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

/** How long a read waits for the replica, and never longer than half of the time it has. */
const PATIENCE_MS = 2_000;

/** How often a replica that is away is asked whether it is back. */
const ASK_AGAIN_MS = 1_000;

/** How many callers are remembered one by one. */
const MAX_CALLERS = 10_000;

/**
 * Opens the replica, which may be away: requests ask once a second whether it is
 * back, and do not wait for it. `changed` hears when it is away, and why; and
 * when it is back.
 */
export async function openReplica(
  settings: DatabaseSettings,
  changed: (isAway: boolean, reason?: unknown) => void,
): Promise<Replica> {
  const database = await openDatabase(settings);
  const positions = new Positions();
  let state: "there" | "doubtful" | "away" = "there";
  let askedAt = -Infinity;

  function ask(): void {
    const now = performance.now();
    if (now < askedAt + ASK_AGAIN_MS) return;
    askedAt = now;
    database.until(now + ASK_AGAIN_MS).lookUp(readiness).then(() => {
      if (state === "away") changed(false);
      state = "there";
    }, (error) => {
      if (state === "doubtful") changed(true, error);
      state = "away";
    });
  }

  /** What the replica answers; nothing where it does not answer in time, or is behind. */
  async function answerOf<S extends Statement>(
    kind: "lookUp" | "scan",
    statement: S,
    caller: Caller,
    deadline: number,
  ): Promise<Result<S> | undefined> {
    if (state !== "there") {
      ask();
      return;
    }
    const now = performance.now();
    const operations = database.until(
      now + Math.min(PATIENCE_MS, (deadline - now) / 2),
      caller,
    );
    try {
      const position = positions.of(caller);
      if (position) {
        const [row] = await operations.lookUp(hasReplayed(position));
        if (!row!.has_replayed) return;
        positions.forget(caller, position);
      }
      return await operations[kind](statement);
    } catch (error) {
      // A conflict concerns one statement: the primary has removed what it was reading.
      if (!isConflict(error) && state === "there") {
        state = "doubtful";
        ask();
      }
    }
  }

  return {
    until(deadline, caller, primary) {
      function reading(kind: "lookUp" | "scan"): Operations["lookUp"] {
        return async (statement) => {
          const answer = await answerOf(kind, statement, caller, deadline);
          if (answer) return answer;
          const rows = await primary[kind](statement);
          const [end] = await primary.lookUp(endOfLog);
          positions.remember(caller, BigInt(end!.position));
          return rows;
        };
      }
      return {
        ...primary,
        lookUp: reading("lookUp"),
        scan: reading("scan"),
        // A replica stores no answers.
        afterwards() {},
      };
    },
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
  };
}

/** How far the primary's log was when it last answered each caller. */
class Positions {
  readonly #positions = new Map<string, bigint>();
  /** That of the callers that are not remembered one by one. */
  #others: bigint | undefined;

  of(caller: Caller): bigint | undefined {
    return this.#positions.get(keyOf(caller)) ?? this.#others;
  }

  /** Of several answers to a caller the last counts, in whichever order they come here. */
  remember(caller: Caller, position: bigint): void {
    const key = keyOf(caller);
    if (this.#positions.size === MAX_CALLERS && !this.#positions.has(key)) {
      const all = [...this.#positions.values(), this.#others ?? 0n];
      this.#others = all.reduce(later);
      this.#positions.clear();
    }
    this.#positions.set(key, later(position, this.of(caller) ?? 0n));
  }

  forget(caller: Caller, position: bigint): void {
    const key = keyOf(caller);
    if (this.#positions.get(key) === position) this.#positions.delete(key);
    if (this.#others === position) this.#others = undefined;
  }
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function keyOf({ organizationId, name }: Caller): string {
  return `${organizationId} ${name}`;
}

const endOfLog = sql<{ position: string }>`
  select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as position
`;

/** A server that never was a replica has replayed nothing. */
function hasReplayed(position: bigint): Statement<{ has_replayed: boolean }> {
  return sql<{ has_replayed: boolean }>`
    select coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn >= ${`${position}`}::numeric, false) as has_replayed
  `;
}

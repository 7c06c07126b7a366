import type { Caller } from "./connections/queue.ts";
import { type Result, sql, type Statement } from "./connections/sql.ts";
import {
  type Database,
  type DatabaseSettings,
  type Limits,
  openDatabase,
  type Queries,
} from "./database.ts";

/*
 * Reads from a streaming replica, without going back in time for a caller. While the replica is
 * down or behind, the primary serves the read.
 */

/** A standby of the primary, which serves callers that may only read. */
export interface Replica extends Pick<Database, "load" | "close"> {
  /**
   * The queries of a caller that may only read. `primary` serves them while the
   * replica is down. A caller never reads older data than before: after a read from
   * the primary it stays there until the replica has caught up.
   */
  for(limits: Limits & { caller: Caller; primary: Queries }): Queries;
}

/** The time limit of a read from the replica, or half of the time left if that is less. */
const MAX_REPLAY_WAIT_MS = 2_000;

const PROBE_MS = 1_000;

/** The maximum number of callers with their own position. */
const MAX_CALLERS = 10_000;

/**
 * Opens the replica, which may be down. Requests probe it once a second without
 * waiting. It also counts as down if it is not a standby: after its promotion, it does
 * not follow the primary. `onChange` reports when it goes down, with the reason, and
 * when it is up again.
 */
export async function openReplica(
  settings: DatabaseSettings,
  onChange: (isDown: boolean, reason?: unknown) => void,
  options?: Parameters<typeof openDatabase>[1],
): Promise<Replica> {
  const database = await openDatabase(settings, options);
  const positions = new Positions();
  let state: "up" | "suspect" | "down" = "suspect";
  let probedAt = -Infinity;

  function probe(): void {
    const now = performance.now();
    if (now < probedAt + PROBE_MS) return;
    probedAt = now;
    checkStandby(now + PROBE_MS).then(() => {
      if (state === "down") onChange(false);
      state = "up";
    }, (error) => {
      if (state === "suspect") onChange(true, error);
      state = state === "up" ? "suspect" : "down";
    });
  }

  async function checkStandby(deadline: number): Promise<void> {
    const [row] = await database.for({ deadline }).lookUp(recovery);
    if (!row!.is_standby) throw new Error("The server is not a standby");
  }

  /** The replica's rows, or undefined if it fails, is late or lags behind the caller. */
  async function readReplica<S extends Statement>(
    kind: "lookUp" | "scan",
    statement: S,
    { caller, deadline }: Limits & { caller: Caller },
  ): Promise<Result<S> | undefined> {
    probe();
    if (state !== "up") return;
    const now = performance.now();
    const operations = database.for({
      deadline: now + Math.min(MAX_REPLAY_WAIT_MS, (deadline - now) / 2),
      caller,
    });
    try {
      const position = positions.of(caller);
      if (position) {
        const [row] = await operations.lookUp(hasReplayed(position));
        if (!row!.has_replayed) return;
        positions.forget(caller, position);
      }
      return await operations[kind](statement);
    } catch {
      // The error may concern this caller alone. A probe finds out whether the replica is down.
      probe();
    }
  }

  probe();
  return {
    for({ primary, ...limits }) {
      const { caller } = limits;
      function reading(kind: "lookUp" | "scan"): Queries["lookUp"] {
        return async (statement) => {
          const found = await readReplica(kind, statement, limits);
          if (found) return found;
          const rows = await primary[kind](statement);
          const [end] = await primary.lookUp(endOfLog);
          positions.remember(caller, BigInt(end!.position));
          return rows;
        };
      }
      return {
        memory: primary.memory,
        lookUp: reading("lookUp"),
        scan: reading("scan"),
        transaction: (work, ...opening) => primary.transaction(work, ...opening),
        write: (...statements) => primary.write(...statements),
        // A read-only caller's reads store nothing.
        inBackground: () => Promise.resolve(),
      };
    },
    get load() {
      return database.load;
    },
    close: database.close,
  };
}

/** The primary's WAL position at each caller's last read from it. */
class Positions {
  readonly #positions = new Map<string, bigint>();
  /** The position of all callers without one of their own. */
  #others: bigint | undefined;

  of(caller: Caller): bigint | undefined {
    return this.#positions.get(callerKey(caller)) ?? this.#others;
  }

  /** Keeps the latest position of a caller: concurrent reads may finish in any order. */
  remember(caller: Caller, position: bigint): void {
    const key = callerKey(caller);
    if (this.#positions.size === MAX_CALLERS && !this.#positions.has(key)) {
      const all = [...this.#positions.values(), this.#others ?? 0n];
      this.#others = all.reduce(later);
      this.#positions.clear();
    }
    this.#positions.set(key, later(position, this.of(caller) ?? 0n));
  }

  forget(caller: Caller, position: bigint): void {
    const key = callerKey(caller);
    if (this.#positions.get(key) === position) this.#positions.delete(key);
    if (this.#others === position) this.#others = undefined;
  }
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function callerKey({ organizationId, name }: Caller): string {
  return `${organizationId} ${name}`;
}

const recovery = sql<{ is_standby: boolean }>`
  select pg_is_in_recovery() as is_standby
`;

/** During a failover, the primary may still be a standby. */
const endOfLog = sql<{ position: string }>`
  select (
    case
      when pg_is_in_recovery() then pg_last_wal_replay_lsn()
      else pg_current_wal_insert_lsn()
    end - '0/0'::pg_lsn
  )::text as position
`;

/** `pg_last_wal_replay_lsn` is null on a server that never was a standby. */
function hasReplayed(position: bigint): Statement<{ has_replayed: boolean }> {
  return sql`
    select coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn >= ${`${position}`}::numeric, false) as has_replayed
  `;
}

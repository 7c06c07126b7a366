import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { isUnavailable, MAX_WAITING, tooMany } from "./queue.ts";
import { endsSession } from "./sqlstate.ts";
import type { Sql } from "./sql.ts";

/** What several requests may ask at once, for one statement to answer, or one transaction. */
export interface Question<Ask, Answer, S extends Sql = Sql> {
  /** Whatever the answers depend on, but for what is asked: the organization first of all. */
  topic: string;
  /** What is asked, such as the id of a record. */
  ask: Ask;
  /** Whether two things asked must not be answered together. */
  areApart?(one: Ask, other: Ask): boolean;
  /** The answers, in the order of `asks`. */
  answer(sql: S, asks: readonly Ask[]): Promise<readonly Answer[]>;
}

/** A question to which all who ask it get one answer: `topic` says all of it. */
export function shared<Answer>(
  topic: string,
  answer: (sql: Sql) => Promise<Answer>,
): Question<void, Answer> {
  return {
    topic,
    ask: undefined,
    answer: async (sql, asks) => {
      const one = await answer(sql);
      return asks.map(() => one);
    },
  };
}

/** Whether the database answers at all. */
export const readiness = shared("readiness", (sql) => sql`select 1 as ready`);

/** Runs work on a connection, as soon as there is one. */
export type Run<S extends Sql> = <T>(
  work: (sql: S) => Promise<T>,
) => Promise<T>;

/** Those who ask together. */
interface Group<Ask, Answer> {
  asks: Ask[];
  /** When all are given up: the first one's deadline. */
  deadline: number;
  isWaiting: boolean;
  answers: Promise<readonly Answer[]>;
}

/**
 * So many ask together at most: by then, half of what a statement costs is
 * shared out, and the first does not wait long for the answers of the others.
 */
export const MAX_TOGETHER = 8;

/** Those whose deadlines are further apart do not ask together, for they share one. */
const TOLERANCE_MS = 100;

/**
 * Requests that wait for a connection with questions on one topic: whoever gets
 * it first asks for all. None waits to be joined by others, no answer is older
 * than a request that gets it, and where different things were asked, what fails
 * for all each asks by itself: what fails has written nothing, or nobody knows
 * and it is `SERVICE_UNAVAILABLE`, which is not tried again.
 */
export class Gathering<S extends Sql> {
  readonly #open = new Map<string, Group<unknown, unknown>>();
  #waiting = 0;

  /**
   * The answer, by `run` until `deadline`, in milliseconds of `performance.now()`.
   * Throws `SERVICE_UNAVAILABLE` where too many wait.
   */
  async ask<Ask, Answer>(
    question: Question<Ask, Answer, S>,
    deadline: number,
    run: Run<S>,
  ): Promise<Answer> {
    if (this.#waiting >= MAX_WAITING) throw tooMany();
    const group = this.#joinable(question, deadline) ??
      this.#begin(question, deadline, run);
    this.#waiting++;
    const place = group.asks.push(question.ask) - 1;
    try {
      return (await group.answers)[place]!;
    } catch (error) {
      const { answer, ask } = question;
      const isAlike = group.asks.every((other) => other === ask);
      if (isAlike || isOfServer(error)) throw error;
      const [alone] = await run((sql) => answer(sql, [ask]));
      return alone!;
    }
  }

  #joinable<Ask, Answer>(
    { topic, ask, areApart }: Question<Ask, Answer, S>,
    deadline: number,
  ): Group<Ask, Answer> | undefined {
    const group = this.#open.get(topic) as Group<Ask, Answer> | undefined;
    if (!group || group.asks.length === MAX_TOGETHER) return;
    if (Math.abs(deadline - group.deadline) >= TOLERANCE_MS) return;
    if (!areApart || !group.asks.some((other) => areApart(ask, other))) {
      return group;
    }
  }

  #begin<Ask, Answer>(
    question: Question<Ask, Answer, S>,
    deadline: number,
    run: Run<S>,
  ): Group<Ask, Answer> {
    const { topic } = question;
    const asks: Ask[] = [];
    const close = () => {
      if (!group.isWaiting) return;
      group.isWaiting = false;
      this.#waiting -= asks.length;
      if (this.#open.get(topic) === group) this.#open.delete(topic);
    };
    const group: Group<Ask, Answer> = {
      asks,
      deadline,
      isWaiting: true,
      // What has arrived by now is read before anything is asked.
      answers: eventLoopTurn().then(() =>
        run((sql) => {
          close();
          return question.answer(sql, asks);
        })
      ).finally(close),
    };
    this.#open.set(topic, group);
    return group;
  }
}

/** Whether it would have happened whatever was asked, or nobody knows what has happened. */
function isOfServer(error: unknown): boolean {
  return endsSession(error) || isUnavailable(error);
}

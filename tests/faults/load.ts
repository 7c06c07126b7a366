import { pause } from "../../db/connections/deadline.ts";
import { assert, assertEquals, AssertionError } from "@std/assert";
import type { Reply } from "../support/client/envelope.ts";
import type { App } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { bodyOf, GONE, type Mark, marksAs, marksOf, storedProducts } from "./marks.ts";

/** Clients of two organizations that create, update, read, list and delete until stopped. */
export interface Load {
  /** The number of responses by status. */
  readonly responses: Record<number, number>;
  /** The number of acknowledged writes. */
  readonly acknowledged: number;
  /** The longest response time. */
  readonly slowestMs: number;
  /** Waits for the last response of every client. Throws the errors that clients found. */
  stop(): Promise<void>;
  /**
   * Compares the stored products with the responses: an acknowledged write is stored
   * completely, a failed write completely or not at all, and no organization has rows
   * of the other.
   */
  verify(): Promise<void>;
}

const TURN = [
  ...["create", "get", "update", "list", "update", "get", "create", "update"],
  ...["get", "update", "list", "update", "delete"],
] as const;

/** The error of a client whose connection broke. */
const UNANSWERED: Reply = {
  status: 0,
  headers: new Headers(),
  body: undefined,
  text: "",
  bytes: new Uint8Array(),
};

/** Starts this number of clients per organization. */
export async function startLoad(
  app: Pick<App, "organization" | "sql">,
  { clients = 4, pauseMs = 5 } = {},
): Promise<Load> {
  const organizations = [await app.organization(), await app.organization()];
  const responses: Record<number, number> = {};
  let acknowledged = 0;
  let slowestMs = 0;
  let stopped = false;

  /** The possible states of each product, by id, and the unconfirmed creates. */
  const possible = new Map<string, Set<Mark>>();
  const unconfirmed = new Set<Mark>();

  async function timed(response: Promise<Reply>): Promise<Reply> {
    const started = performance.now();
    const reply = await response.catch((error) => {
      if (error instanceof AssertionError) throw error;
      return UNANSWERED;
    });
    slowestMs = Math.max(slowestMs, performance.now() - started);
    responses[reply.status] = (responses[reply.status] ?? 0) + 1;
    return reply;
  }

  async function client(org: Organization, name: string): Promise<void> {
    const mine: string[] = [];
    for (let n = 0; !stopped; n++) {
      const mark = `${name}-${n}`;
      const id = mine[n % mine.length] ?? "";
      const action = id ? TURN[n % TURN.length]! : "create";
      const path = `/api/products${action === "create" ? "" : `/${id}`}`;
      const marks = possible.get(id)!;
      if (action === "create") {
        unconfirmed.add(mark);
        const { status, body } = await timed(org.post(path, bodyOf(org, mark)));
        if (confirmed(status, 201)) {
          acknowledged++;
          unconfirmed.delete(mark);
          assertEquals(marksOf(org, body.data), marksAs(mark));
          possible.set(body.data.id, new Set([mark]));
          mine.push(body.data.id);
        }
      } else if (action === "update") {
        marks.add(mark);
        const { status, body } = await timed(org.put(path, bodyOf(org, mark)));
        if (confirmed(status, 200)) {
          acknowledged++;
          assertEquals(marksOf(org, body.data), marksAs(mark));
          possible.set(id, new Set([mark]));
        } else if (status === 404) {
          assert(marks.has(GONE), `${id} was not deleted`);
          possible.set(id, new Set([GONE]));
        }
      } else if (action === "delete") {
        marks.add(GONE);
        const { status } = await timed(org.delete(path));
        if (confirmed(status, 200)) {
          acknowledged++;
          possible.set(id, new Set([GONE]));
        }
        mine.splice(mine.indexOf(id), 1);
      } else if (action === "get") {
        const { status, body } = await timed(org.get(path));
        if (confirmed(status, 200)) {
          const [found] = marksOf(org, body.data);
          assertEquals(marksOf(org, body.data), marksAs(found!));
          assert(marks.has(found!), `${id} is ${found}, not ${[...marks]}`);
        } else assert(status !== 404 || marks.has(GONE), `${id} is lost`);
      } else {
        const { status, body } = await timed(org.get("/api/products?limit=20"));
        if (confirmed(status, 200)) {
          for (const { organization_id } of body.data) {
            assertEquals(organization_id, org.id);
          }
        }
      }
      await pause(pauseMs);
    }
  }

  const ended = Promise.all(
    organizations.flatMap((org, i) =>
      Array.from({ length: clients }, (_, n) => client(org, `${i}-${n}`))
    ),
  );
  // `stop` rethrows the error.
  ended.catch(() => {});

  return {
    responses,
    get acknowledged() {
      return acknowledged;
    },
    get slowestMs() {
      return slowestMs;
    },
    async stop() {
      stopped = true;
      await ended;
    },
    async verify() {
      const rows = await storedProducts(app, organizations);
      const stored = new Map(rows.map((row) => [row.id, row]));
      for (const [id, marks] of possible) {
        const [mark = GONE] = stored.get(id)?.marks ?? [];
        assert(marks.has(mark!), `${id} is ${mark}, not ${[...marks]}`);
      }
      const seen = new Set<Mark>();
      for (const { id, organization_id, marks } of rows) {
        const [mark] = marks;
        assertEquals(marks, marksAs(mark!));
        assertEquals(organization_id, organizations[Number(mark![0])]!.id);
        if (possible.has(id)) continue;
        assert(unconfirmed.has(mark!), `No client created ${mark}`);
        assert(!seen.has(mark!), `${mark} was created twice`);
        seen.add(mark!);
      }
      for (const org of organizations) {
        const { status, body } = await org.get("/api/products?limit=1");
        const count = rows.filter((row) => row.organization_id === org.id);
        assertEquals([status, body.meta?.total], [200, count.length]);
        await org.create();
      }
    },
  };
}

/** Whether the request succeeded. Throws for any error except database failures. */
function confirmed(status: number, success: number): boolean {
  if (status === success) return true;
  assert([0, 404, 500, 503].includes(status), `The response was ${status}`);
  return false;
}

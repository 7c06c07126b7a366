import { assert } from "@std/assert";
import { Copy } from "../support/client/copy.ts";
import { processTest } from "../support/servers/processes.ts";

/** The number of products that each client creates. */
const PER_CLIENT = 30;

processTest(
  "A copy is complete after one of two processes is killed",
  2,
  async ({ app, services }) => {
    const org = await app.organization();
    const processes = services.map(({ origin }) => origin);
    const headers = {
      "x-api-key": org.key,
      "content-type": "application/json",
    };
    let turn = 0;
    let created = 0;

    /** Sends the request to the next running process. */
    async function ask(path: string, init: RequestInit = {}) {
      for (let attempt = 1;; attempt++) {
        const origin = processes[turn++ % processes.length];
        try {
          const response = await fetch(origin + path, { headers, ...init });
          return { status: response.status, body: await response.json() };
        } catch (error) {
          // The other process is still running.
          if (attempt === 10) throw error;
        }
      }
    }
    const copy = new Copy({ get: ask }, app);

    async function write(): Promise<void> {
      for (let i = 0; i < PER_CLIENT; i++) {
        const { body } = await ask("/api/products", {
          method: "POST",
          body: JSON.stringify({ title: `Emma ${i}` }),
        });
        if (!body.success) continue;
        const path = `/api/products/${body.data.id}`;
        if (i % 3 === 0) await ask(path, { method: "DELETE" });
        if (i % 3 === 1) {
          await ask(path, { method: "PUT", body: '{"title":"Again"}' });
        }
        if (++created === 4 * PER_CLIENT) {
          await services[0]!.kill();
          processes.shift();
        }
      }
    }
    let isOver = false;
    async function follow(): Promise<void> {
      while (!isOver) await copy.read("limit=1000");
    }
    const following = follow();
    await Promise.all(Array.from({ length: 8 }, write));
    isOver = true;
    await following;

    assert(processes.length === 1);
    await copy.catchUp();
    await copy.assertComplete();
  },
);

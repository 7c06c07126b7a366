import { assertThrows } from "@std/assert";
import { assertOpenApi } from "../support/client/assert_openapi.ts";
import type { Reply } from "../support/client/envelope.ts";
import { openApp } from "../support/app/harness.ts";

Deno.test("assertOpenApi", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const { path } = await org.create();
  const request = new Request(`http://catalogue.test${path}`);
  const reply = await org.get(path);
  const refused = await app.send(path);
  const check = (other: Partial<Reply>) =>
    assertOpenApi(request, undefined, { ...reply, ...other });

  await it("refuses a status that the document lacks", () => {
    assertThrows(() => check({ status: 202 }), Error, "no response 202");
  });

  await it("refuses an unknown or missing header", () => {
    const more = new Headers([...reply.headers, ["x-powered-by", "Deno"]]);
    const less = new Headers(reply.headers);
    less.delete("x-request-id");

    assertThrows(() => check({ headers: more }), Error, "x-powered-by");
    assertThrows(() => check({ headers: less }), Error, "X-Request-Id");
  });

  await it("refuses an unknown or missing field", () => {
    const { data } = reply.body;
    const { title: _, ...rest } = data;
    const more = { ...reply.body, data: { ...data, shelf: 1 } };
    const less = { ...reply.body, data: rest };

    assertThrows(() => check({ body: more }), Error, "shelf");
    assertThrows(() => check({ body: less }), Error, "title");
  });

  await it("refuses a code that the operation does not have", () => {
    const { error } = refused.body;
    const body = { ...refused.body, error: { ...error, code: "NOT_FOUND" } };

    assertThrows(() => check({ ...refused, body }), Error, "UNAUTHORIZED");
  });

  await it("refuses an accepted body that does not match its schema", () => {
    const sent = JSON.stringify({ title: "Emma", shelf: 1 });
    const put = new Request(request, { method: "PUT" });

    assertThrows(() => assertOpenApi(put, sent, reply), Error, "shelf");
  });
});

import { assert, assertEquals, assertMatch } from "@std/assert";
import { unauthorized } from "../../middleware/jwt.ts";
import { pause } from "../../db/connections/deadline.ts";
import { clockAhead } from "../support/app/clock.ts";
import { bound } from "../support/app/bound.ts";
import { eventually } from "../support/app/eventually.ts";
import { send, testsOf } from "../support/app/harness.ts";
import type { Session } from "../support/sql/script.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

/** The time for which ended credentials may still work, in milliseconds. */
const TOLERATED = 5_000;

/** What ends credentials while a message arrives, and the error that refuses the rest. */
const ENDINGS: Record<
  string,
  {
    isUser?: boolean;
    end: (
      sql: Session,
      org: { id: string },
      token: { isOver: boolean },
    ) => unknown;
    code: "UNAUTHORIZED" | "FORBIDDEN";
  }
> = {
  "a key is revoked": {
    end: (sql, { id }) => sql`update api_keys set revoked_at = now() where organization_id = ${id}`,
    code: "UNAUTHORIZED",
  },
  "a key expires": {
    end: (sql, { id }) => sql`update api_keys set expires_at = now() where organization_id = ${id}`,
    code: "UNAUTHORIZED",
  },
  "a token expires": {
    isUser: true,
    end: (_sql, _org, token) => token.isOver = true,
    code: "UNAUTHORIZED",
  },
  "a membership ends": {
    isUser: true,
    end: (sql, { id }) => sql`delete from organization_members where organization_id = ${id}`,
    code: "FORBIDDEN",
  },
  "a member may only read": {
    isUser: true,
    end: (sql, { id }) =>
      sql`update organization_members set role = 'viewer' where organization_id = ${id}`,
    code: "FORBIDDEN",
  },
};

const it = testsOf("An import");

for (const [what, { isUser, end, code }] of Object.entries(ENDINGS)) {
  it(`stops when ${what}, and reports what it wrote`, async ({ org, app, sql }) => {
    const token = { isOver: false };
    const user = crypto.randomUUID();
    const stored = async () => {
      const [row] = await sql`
        select count(*)::int as products from products where organization_id = ${org.id}
      `;
      return row!.products as number;
    };
    await sql`
      insert into organization_members (organization_id, user_id, role)
      values (${org.id}, ${user}, 'editor')
    `;
    const handler = app.variant({
      verifyToken: () =>
        token.isOver
          ? Promise.reject(unauthorized("The Bearer token is not valid"))
          : Promise.resolve(user),
    });
    const [start] = message().split("</ONIXMessage>");
    let sent = 0;
    // A message that never ends.
    const body = new ReadableStream<string>({
      start: (stream) => stream.enqueue(start!),
      async pull(stream) {
        await pause(10);
        const isbn = isbnOf(++sent);
        stream.enqueue(record({ reference: `r${sent}`, isbn }));
      },
    }).pipeThrough(new TextEncoderStream());

    const importing = send(handler, "/api/onix/products", {
      method: "POST",
      headers: {
        ...isUser
          ? {
            authorization: "Bearer head.body.signature",
            "x-organization-id": org.id,
          }
          : { "x-api-key": org.key },
        "content-type": "application/xml",
      },
      body,
    });
    await eventually(true, async () => await stored() > 0);
    await end(sql, org, token);
    using _ = clockAhead(TOLERATED);
    const { status, body: { error } } = await importing;

    assertEquals(error.code, code);
    assertEquals(status, code === "FORBIDDEN" ? 403 : 401);
    const written = await stored();
    assertEquals([error.report.records, error.report.created], [
      written,
      written,
    ]);
  });
}

/** What ends the download of a sheet by a key of a recipient. */
const ENDINGS_OF_DOWNLOADS: Record<string, (sql: Session, org: { id: string }) => unknown> = {
  "its key is revoked": (sql, { id }) =>
    sql`update api_keys set revoked_at = now() where organization_id = ${id}`,
  "its recipient gets less": (sql, { id }) =>
    sql`
      update recipients set view = view || '{"leave_out": ["collateral"]}'
      where organization_id = ${id}
    `,
  "its recipient is deleted": (sql, { id }) =>
    sql.begin(async (sql) => {
      await sql`delete from api_keys where organization_id = ${id} and recipient_id is not null`;
      await sql`delete from recipients where organization_id = ${id}`;
    }),
};

const ofDownload = testsOf("A download of a sheet");

for (const [what, end] of Object.entries(ENDINGS_OF_DOWNLOADS)) {
  ofDownload(`ends when ${what}`, async ({ org, app, sql }) => {
    const reader = await bound(app, org, { selection: {} });
    // Each product is a group of its own.
    const collateral = Array(10).fill({
      collateral_type: "text_content",
      text: "x".repeat(100_000),
    });
    for (let i = 0; i < 8; i++) await org.create({ title: `Title ${i}`, collateral });
    const response = await app.handler(
      new Request("http://catalogue.test/api/csv/products", {
        headers: { "x-api-key": reader.key },
      }),
    );
    const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    let text = (await chunks.next()).value!;
    await end(sql, org);
    using _ = clockAhead(TOLERATED);
    await sql`update products set title = 'Later' where organization_id = ${org.id}`;

    const error = await readRest();

    assertMatch(String(error), /ends early/);
    // A group may have been read before.
    assert(text.split("Later").length <= 3, text);

    async function readRest(): Promise<unknown> {
      try {
        for (;;) {
          const { done, value } = await chunks.next();
          if (done) return;
          text += value;
        }
      } catch (error) {
        return error;
      }
    }
  });
}

import { assertEquals, assertStringIncludes } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { assertDetails } from "../support/client/expect.ts";

const PATH = "/api/organization";

const GLN = {
  sender_id_type: "06",
  id_type_name: null,
  id_value: "5012345000015",
};

const SENDER = {
  sender_identifiers: [
    GLN,
    { sender_id_type: "01", id_type_name: "Ours", id_value: "17" },
  ],
  contact_name: "Metadata & rights",
  email_address: "metadata@harbour.example",
};

/** What a body may not have, with the pointer and the code of the error. */
const REFUSED: [body: object, pointer: string, code: string][] = [
  [{ name: null }, "/name", "invalid_type"],
  [{ name: " " }, "/name", "blank"],
  [{ contact_name: " " }, "/contact_name", "blank"],
  [{ email_address: "metadata" }, "/email_address", "invalid_email"],
  [{ email_address: "a b@c" }, "/email_address", "invalid_email"],
  [{ sender_identifiers: null }, "/sender_identifiers", "invalid_type"],
  [
    { sender_identifiers: [GLN, GLN] },
    "/sender_identifiers/1/sender_id_type",
    "duplicate",
  ],
  [
    { sender_identifiers: [{ ...GLN, sender_id_type: "99" }] },
    "/sender_identifiers/0/sender_id_type",
    "invalid_code",
  ],
  [{ phone: "1" }, "/phone", "unknown_field"],
];

const it = testsOf(PATH);

it("GET and PUT show the caller's own, and null clears", async ({ app, org }) => {
  const other = await app.organization();
  const empty = await org.get(PATH);
  const { status, body, headers } = await org.put(PATH, SENDER);
  const cleared = await org.put(PATH, {
    ...body.data,
    sender_identifiers: [],
    contact_name: null,
    email_address: null,
  });

  assertEquals(empty.body.data, {
    id: org.id,
    name: "Test",
    sender_identifiers: [],
    contact_name: null,
    email_address: null,
  });
  assertEquals(status, 200);
  assertEquals(body.data, { id: org.id, name: "Test", ...SENDER });
  assertEquals(headers.get("etag") !== empty.headers.get("etag"), true);
  assertEquals(cleared.body.data, empty.body.data);
  assertEquals(cleared.headers.get("ignored-fields"), "id");
  assertEquals((await other.get(PATH)).body.data.id, other.id);
});

it("PUT honours If-Match, and GET If-None-Match", async ({ org }) => {
  const etag = (await org.get(PATH)).headers.get("etag")!;
  const same = await org.get(PATH, { "if-none-match": etag });
  const first = await org.put(PATH, { name: "A" }, { "if-match": etag });
  const second = await org.put(PATH, { name: "B" }, { "if-match": etag });

  assertEquals([same.status, first.status, second.status], [304, 200, 412]);
  assertEquals((await org.get(PATH)).body.data.name, "A");
});

it("PUT returns every error with its pointer", async ({ org }) => {
  for (const [body, pointer, code] of REFUSED) {
    assertDetails(await org.put(PATH, body), [pointer, code]);
  }
});

it("PUT is refused to who may only read", async ({ app, org }) => {
  const key = await org.issueKey("read");
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const put = { method: "PUT", headers, body: JSON.stringify(SENDER) };

  assertEquals((await app.send(PATH, put)).status, 403);
  assertEquals((await app.send(PATH, { headers })).status, 200);
});

it("is the sender of messages in both releases and tags", async ({ org }) => {
  const { id } = await org.create();
  const path = `/api/onix/products/${id}`;
  const before = (await org.get(path)).headers.get("etag");
  await org.put(PATH, SENDER);

  for (const release of ["3.0", "3.1"]) {
    for (const one of [path, "/api/onix/products"]) {
      const { text } = await org.get(`${one}?release=${release}`);
      assertStringIncludes(
        text.replace(/>\s+</g, "><"),
        "<Sender><SenderIdentifier><SenderIDType>06</SenderIDType><IDValue>5012345000015</IDValue></SenderIdentifier><SenderIdentifier><SenderIDType>01</SenderIDType><IDTypeName>Ours</IDTypeName><IDValue>17</IDValue></SenderIdentifier><SenderName>Test</SenderName><ContactName>Metadata &amp; rights</ContactName><EmailAddress>metadata@harbour.example</EmailAddress></Sender>",
      );
      const short = await org.get(`${one}?release=${release}&tags=short`);
      assertStringIncludes(short.text, "<j272>metadata@harbour.example</j272>");
    }
  }
  assertEquals((await org.get(path)).headers.get("etag") !== before, true);
});

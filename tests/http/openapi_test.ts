import { assert, assertEquals, assertMatch } from "@std/assert";
import { EXAMPLES, makeExamples, openDemo } from "../support/examples/record.ts";
import { EVERY_OPERATION } from "../support/client/every_operation.ts";
import { runTool } from "../support/app/tools.ts";
import { TIMED } from "../support/app/deadline.ts";

/** A path of elements, which may have codes. The last one may be an attribute. */
const PLACE =
  / ONIX: `[A-Za-z]+(?:\[\w+=\w+(?:,\w+=\w+)*\])?(?:\/@?[A-Za-z]+(?:\[\w+=\w+\])?)*`\.$/;

Deno.test("GET /openapi.json", TIMED, async ({ step: it }) => {
  await using app = await openDemo();
  const ask = (headers: HeadersInit = {}) =>
    app.handler(
      new Request("http://catalogue.test/api/openapi.json", { headers }),
    );

  await it("responds without credentials", async () => {
    const response = await ask();
    const document = await response.json();

    assertEquals(response.status, 200);
    assertEquals(document.openapi, "3.1.0");
    assertEquals(document.servers, [{ url: "/api" }]);
    const described = Object.entries<object>(document.paths).flatMap((
      [path, item],
    ) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
    for (const { key } of EVERY_OPERATION) assert(described.includes(key), key);
  });

  await it("responds with 304 for a current ETag", async () => {
    const first = await ask();
    await first.body?.cancel();
    const etag = first.headers.get("etag")!;

    const again = await ask({ "if-none-match": etag });

    assertEquals(again.status, 304);
    assertEquals(again.headers.get("etag"), etag);
    assertEquals(await again.text(), "");
  });

  await it("has the prefix of the service in servers", async () => {
    for (const apiPrefix of ["/v1/catalogue", ""]) {
      const handler = app.variant({ apiPrefix });

      const response = await handler(
        new Request(`http://catalogue.test${apiPrefix}/openapi.json`),
      );

      const { servers } = await response.json();
      assertEquals(servers, [{ url: apiPrefix || "/" }]);
    }
  });

  await it("passes the linter without a warning", async () => {
    const file = await Deno.makeTempFile({ suffix: ".json" });
    await Deno.writeTextFile(file, await (await ask()).text());

    const { success, output, complaints } = await runTool(
      ["@redocly/cli", "lint", "--format=json", "--extends=recommended", file],
      {
        env: {
          REDOCLY_TELEMETRY: "off",
          REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        },
      },
    );

    assert(success, complaints);
    assertEquals((JSON.parse(output) as { problems: unknown }).problems, []);
    await Deno.remove(file);
  });

  await it("has a sentence for every property and operation", async () => {
    const { paths, components } = await (await ask()).json();
    const lacking: string[] = [];
    for (const [path, item] of Object.entries<object>(paths)) {
      for (const [method, operation] of Object.entries(item)) {
        if (method !== "parameters" && !isSentence(operation.description)) {
          lacking.push(`${method} ${path}`);
        }
      }
    }
    for (const [name, schema] of Object.entries(components.schemas)) {
      for (const property of propertiesIn(schema)) {
        if (!isSentence(property.description)) {
          lacking.push(`${name}.${property.name}`);
        }
      }
    }

    assertEquals(lacking, []);
  });

  await it("names places in ONIX in one form", async () => {
    const { components } = await (await ask()).json();
    const { isbn13, id, title } = components.schemas.Product.properties;

    assertEquals(
      title.description,
      "The title, without the subtitle. ONIX: `TitleDetail[TitleType=01]/TitleElement[TitleElementLevel=01]/TitleText`.",
    );
    assertEquals(
      isbn13.description,
      "The ISBN-13 of the product. Without hyphens and spaces. ONIX: `ProductIdentifier`.",
    );
    assertEquals(id.description, "The id of the product.");
    for (const schema of Object.values(components.schemas)) {
      for (const { name, description } of propertiesIn(schema)) {
        assertEquals(
          description?.includes("ONIX:"),
          PLACE.test(description ?? ""),
          name,
        );
      }
    }
  });

  await it("keeps a reference beside a description", async () => {
    const { components } = await (await ask()).json();
    const { NewPrice, NewAward, LanguageBody } = components.schemas;

    assertEquals(
      NewPrice.properties.currency_code.$ref,
      "#/components/schemas/CurrencyCode",
    );
    assertEquals(NewAward.properties.prize_country.anyOf, [
      { $ref: "#/components/schemas/CountryCode" },
      { type: "null" },
    ]);
    const [codes, nothing] = LanguageBody.properties.script_code.anyOf;
    assertEquals(nothing, { type: "null" });
    assert(codes.enum.includes("Latn") && !codes.enum.includes(null));
  });

  await it("is as generators of clients like it", async () => {
    const text = await (await ask()).text();
    const { info, paths, components } = JSON.parse(text);

    assertEquals(text.match(/"servers":/g), ['"servers":']);
    assertEquals(Object.keys(info), [
      "title",
      "version",
      "description",
      "contact",
      "license",
    ]);
    for (const item of Object.values<Item>(paths)) {
      for (const parameter of item.parameters ?? []) {
        assert(parameter.example, parameter.name);
      }
      for (const parameter of item.post?.parameters ?? []) {
        if (parameter.name === "Idempotency-Key") {
          assertMatch(parameter.schema.examples![0]!, /^\w+-[\d-]+$/);
        }
      }
    }
    JSON.parse(text, (_, value) => {
      if (value?.type === "array") {
        const { items = {} } = value;
        assert(
          "$ref" in items || "anyOf" in items || "oneOf" in items || items.type,
        );
      }
      if (Array.isArray(value?.enum)) assert(!value.enum.includes(null));
      return value;
    });
    for (const union of ["Change", "BatchResult"]) {
      const cases = (components.schemas[union].oneOf as { $ref: string }[])
        .map(({ $ref }) => components.schemas[$ref.split("/").at(-1)!]);
      const [name] = union === "Change" ? ["deleted"] : ["status"];
      const values = cases.flatMap(({ properties, required }) => {
        assert(required.includes(name));
        return properties[name!].enum;
      });
      assertEquals(values.length, new Set(values).size, union);
    }
  });

  await it("has an example of every body", async () => {
    const { paths } = await (await ask()).json();
    const lacking = Object.entries(paths as Record<string, PathItem>).flatMap(
      ([path, item]) =>
        Object.entries(item).flatMap(([method, { requestBody, responses }]) => {
          const bodies = [requestBody, responses?.[200], responses?.[201]];
          return bodies.some((body) => lacksExample(body)) ? [`${method} ${path}`] : [];
        }),
    );

    // The document itself is the example.
    assertEquals(lacking, ["get /openapi.json"]);
  });

  await it("contains the current output of deno task examples", async () => {
    const written = await Deno.readTextFile(EXAMPLES);

    assertEquals(
      await makeExamples(app),
      written,
      "the examples are old: run deno task examples",
    );
  });
});

interface Item {
  parameters?: Parameter[];
  post?: { parameters: Parameter[] };
}

interface Parameter {
  name: string;
  example?: string;
  schema: { examples?: string[] };
}

/** A property of a schema, or of one in it. */
interface Property {
  name: string;
  description?: string;
}

function* propertiesIn(schema: unknown): Generator<Property> {
  if (typeof schema !== "object" || schema === null) return;
  const { properties = {} } = schema as {
    properties?: Record<string, Omit<Property, "name">>;
  };
  for (const [name, property] of Object.entries(properties)) {
    yield { ...property, name };
  }
  for (const inner of Object.values({ ...schema, ...properties })) {
    if (inner !== properties) yield* propertiesIn(inner);
  }
}

function isSentence(text: unknown): boolean {
  return typeof text === "string" && /^[`A-Z].*[.]$/s.test(text);
}

type PathItem = Record<
  string,
  { requestBody?: Body; responses?: Record<string, Body> }
>;

interface Body {
  content?: Record<string, { schema?: object; examples?: object }>;
}

/** Whether a part lacks its example. Bytes, which have no schema, have none. */
function lacksExample(body?: Body): boolean {
  return Object.values(body?.content ?? {}).some(({ schema, examples }) => schema && !examples);
}

import { assertEquals, assertThrows } from "@std/assert";
import { splitScript, splitStatements } from "../../db/split_statements.ts";

const CASES: Record<string, string[]> = {
  "select 1; select 2;": ["select 1", "select 2"],
  "select 1": ["select 1"],
  "": [],
  " \n-- nothing but a comment;\n": [],
  "select 1; /* the end; */": ["select 1"],
  "select ';', 'it''s; two';": ["select ';', 'it''s; two'"],
  "select E'\\';'; select 2": ["select E'\\';'", "select 2"],
  "select 1 like '1' escape'\\'; select '2'": [
    "select 1 like '1' escape'\\'",
    "select '2'",
  ],
  'select 1 as ";""; quoted";': ['select 1 as ";""; quoted"'],
  "select 1 -- one; half\n, 2;": ["select 1 -- one; half\n, 2"],
  "select /* ; ' */ 1; select 2": ["select /* ; ' */ 1", "select 2"],
  "do $$ begin; end $$; select 2": ["do $$ begin; end $$", "select 2"],
  "do $a$ $$;$$ $b$;$b$ $a$; select 2": [
    "do $a$ $$;$$ $b$;$b$ $a$",
    "select 2",
  ],
  "select '--'; select 2": ["select '--'", "select 2"],
  "select '/*'; select '*/'": ["select '/*'", "select '*/'"],
  "select '1'": ["select '1'"],
  "select E'\\\\'; select 2": ["select E'\\\\'", "select 2"],
  "select $1; select $2": ["select $1", "select $2"],
  "-- first\nselect 1;": ["-- first\nselect 1"],
  "select 'not closed; select 2": ["select 'not closed; select 2"],
};

Deno.test("splitStatements", async ({ step: it }) => {
  for (const [file, statements] of Object.entries(CASES)) {
    await it(`splits ${JSON.stringify(file)}`, () => {
      assertEquals(splitStatements(file), statements);
    });
  }
});

Deno.test("splitStatements takes strings of any length", () => {
  const long = `${"x;''".repeat(5_000_000)}\\\\`;
  for (const string of [`'${long}'`, `E'${long}'`, `$a$${long}$a$`]) {
    const statements = splitStatements(`select ${string}; select 2`);

    assertEquals(statements.map(({ length }) => length), [
      7 + string.length,
      8,
    ]);
  }
});

Deno.test("splitScript takes any number of comments before a statement", () => {
  const comments = "-- a\n/* b */ \n".repeat(2_000_000);

  assertEquals(splitScript("data.sql", `${comments}select 1`), [
    `${comments}select 1`,
  ]);
  assertThrows(
    () => splitScript("data.sql", `${comments}commit`),
    Error,
    'data.sql: "commit"',
  );
});

/** Statements that cannot be part of a script, and others that resemble them. */
const REFUSED = [
  "begin",
  "BEGIN ISOLATION LEVEL SERIALIZABLE",
  "start transaction",
  "commit",
  "COMMIT AND CHAIN",
  "-- done\n/* ; */ commit work",
  "end",
  "abort",
  "rollback",
  "rollback work",
  "prepare transaction 'x'",
  "copy products from stdin",
  "COPY products (title)\n  FROM STDIN WITH (FORMAT csv)",
  "copy (select 1) to stdout",
];
const ACCEPTED = [
  "savepoint here",
  "rollback to here",
  "rollback work to savepoint here",
  "release here",
  "copy products from '/tmp/products.csv'",
  "do $$ begin null; end $$",
  "insert into titles (name) values ('commit; copy x from stdin;')",
  "create table commits (id int)",
  "prepare find as select 1",
];

Deno.test("splitScript refuses what is not part of one transaction, in one line", async ({ step: it }) => {
  for (const statement of REFUSED) {
    await it(statement, () => {
      const { message } = assertThrows(
        () => splitScript("load/data.sql", `select 1;\n${statement};\n`),
        Error,
        'load/data.sql: "',
      );
      assertEquals(message.includes("\n"), false, message);
    });
  }
  for (const statement of ACCEPTED) {
    await it(statement, () => {
      assertEquals(splitScript("data.sql", `${statement};`), [statement]);
    });
  }
});

import { assertEquals } from "@std/assert";
import { splitStatements } from "../../db/split_statements.ts";

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
};

Deno.test("splitStatements", async (t) => {
  for (const [file, statements] of Object.entries(CASES)) {
    await t.step(`splits ${JSON.stringify(file)}`, () => {
      assertEquals(splitStatements(file), statements);
    });
  }
});

import { isFile, LACKS_XMLLINT } from "../onix/schemas.ts";
import { binaries } from "./servers/cluster.ts";
import { IS_ONE_OF_SEVERAL } from "./app/sample.ts";
import { hasPgBouncer } from "./servers/pgbouncer.ts";

/* Says before a run of all tests which of them will be skipped, and what they need. */

const url = Deno.env.has("TEST_DATABASE_URL");

/** What is missing, with the tests that need it. */
const NEEDS: [isMissing: boolean, tests: string, need: string][] = [
  [
    !url,
    "on PostgreSQL, of several processes and of faults",
    "TEST_DATABASE_URL with a superuser's database of PostgreSQL 15 or later",
  ],
  [
    url,
    "of the embedded database and of what no database changes",
    "TEST_DATABASE_URL to be unset",
  ],
  [
    url && !binaries(),
    "of faults",
    "PostgreSQL's own programs on this machine (Debian: postgresql)",
  ],
  [
    IS_ONE_OF_SEVERAL,
    "of long series that run on PostgreSQL",
    "TEST_WHOLE to be unset, or true",
  ],
  [url && !hasPgBouncer(), "of PgBouncer", "pgbouncer"],
  [LACKS_XMLLINT, "of ONIX against EDItEUR's schemas", "xmllint (Debian: libxml2-utils)"],
  [!isFile("/usr/bin/chromium"), "of the page in a browser", "chromium"],
  [
    !isFile("/usr/bin/script"),
    "of output on a terminal",
    "script (util-linux)",
  ],
];

for (const [isMissing, tests, need] of NEEDS) {
  if (isMissing) console.error(`Skipped: tests ${tests}. They need ${need}.`);
}

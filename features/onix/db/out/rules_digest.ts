import { createHash } from "node:crypto";
import { CODE_LISTS } from "../../../../schema/onix_codes.ts";
import { MAPPED_FIELDS } from "../../schema/mapping/mapping.ts";
import { DEPENDENTS, FORMS_OF_TITLE, TRANSLATORS } from "../../schema/rules/dependents.ts";
import { TABLES } from "../../schema/rules/facts.ts";
import { LIMIT_TABLES } from "../../schema/rules/limits.ts";

let digest: string | undefined;

/** A digest of the tables by which records are read and written. */
export function tablesDigest(): string {
  digest ??= digestOfTables();
  return digest;
}

function digestOfTables(): string {
  const fields = MAPPED_FIELDS.map(([name, { block, path }]) => [name, block, path]);
  const tables = JSON.stringify([
    ...TABLES,
    CODE_LISTS,
    fields,
    [DEPENDENTS, FORMS_OF_TITLE, TRANSLATORS],
    LIMIT_TABLES,
  ]);
  return createHash("sha256").update(tables).digest("base64url").slice(0, 16);
}

import { createHash } from "node:crypto";
import { CODE_LISTS } from "../../../../schema/onix_codes.ts";
import { MAPPED_FIELDS } from "../../schema/mapping/mapping.ts";
import { TABLES } from "../../schema/rules/facts.ts";

let digest: string | undefined;

/** A digest of the tables by which records are read and written. */
export function tablesDigest(): string {
  digest ??= digestOfTables();
  return digest;
}

function digestOfTables(): string {
  const fields = MAPPED_FIELDS.map(([name, { block, path }]) => [name, block, path]);
  const tables = JSON.stringify([...TABLES, CODE_LISTS, fields]);
  return createHash("sha256").update(tables).digest("base64url").slice(0, 16);
}

import { createHash } from "node:crypto";

/** The id of a code in an ONIX list with a table of its own: the same in every installation. */
export function idOfCode(list: string, code: string): string {
  return uuidv5(`onix:${list}:${code}`);
}

/** The UUIDv5 of a name in the URL namespace (RFC 9562, 5.5 and 6.6). */
function uuidv5(name: string): string {
  const hash = createHash("sha1")
    .update("6ba7b8119dad11d180b400c04fd430c8", "hex")
    .update(name)
    .digest();
  hash[6] = hash[6]! & 0x0f | 0x50;
  hash[8] = hash[8]! & 0x3f | 0x80;
  return hash.toString("hex", 0, 16)
    .replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

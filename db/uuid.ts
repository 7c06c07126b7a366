import { createHash } from "node:crypto";

let last = 0n;

/**
 * A UUIDv7 (RFC 9562, 5.7), greater than all earlier ones of this process: 48 bits
 * of milliseconds, then a counter of 12 bits.
 */
export function uuidv7(): string {
  const now = BigInt(Date.now()) << 12n;
  last = now > last ? now : last + 1n;
  const time = (last >> 12n).toString(16).padStart(12, "0");
  const count = (last & 0xfffn).toString(16).padStart(3, "0");
  const random = crypto.randomUUID().slice(19);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${random}`;
}

/** The UUIDv5 of a name in the URL namespace (RFC 9562, 5.5 and 6.6). */
export function uuidv5(name: string): string {
  const hash = createHash("sha1")
    .update("6ba7b8119dad11d180b400c04fd430c8", "hex")
    .update(name)
    .digest();
  hash[6] = hash[6]! & 0x0f | 0x50;
  hash[8] = hash[8]! & 0x3f | 0x80;
  return hash.toString("hex", 0, 16)
    .replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

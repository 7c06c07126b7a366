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

/** The nil UUID (RFC 9562, 5.9), which precedes all others. */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** The max UUID (RFC 9562, 5.10), which follows all others. */
export const MAX_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

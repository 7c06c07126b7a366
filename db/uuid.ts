let last = 0n;

/**
 * A UUID of version 7 (RFC 9562, 5.7), later than every earlier one of this
 * process: 48 bits of milliseconds, then 12 bits that count within one.
 */
export function uuidv7(): string {
  const now = BigInt(Date.now()) << 12n;
  last = now > last ? now : last + 1n;
  const time = (last >> 12n).toString(16).padStart(12, "0");
  const count = (last & 0xfffn).toString(16).padStart(3, "0");
  const random = crypto.randomUUID().slice(19);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${random}`;
}

import { isIP } from "node:net";

/*
 * Which addresses a webhook may call: public ones, and those that the operator allows.
 * Others are in the operator's network, which callers must not reach through the service
 * (server-side request forgery).
 */

/** An address as a number: IPv4 has 32 bits, IPv6 has 128. */
interface Address {
  bits: 32 | 128;
  value: bigint;
}

/** The addresses that share the first `prefix` bits (CIDR, RFC 4632). */
interface AddressRange extends Address {
  prefix: number;
}

/** What is allowed besides public addresses, and there `http` too. */
export interface AllowedTargets {
  /** Host names, whatever they resolve to. */
  hosts: ReadonlySet<string>;
  ranges: readonly AddressRange[];
}

/** The ranges that are not public (RFC 6890 and its registries). */
const FORBIDDEN = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8"],
  ...["169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"],
  ...["192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"],
  ...["203.0.113.0/24", "224.0.0.0/3"],
  ...["fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2001:db8::/32"],
  // Each network translates these to IPv4 in its own way (RFC 8215).
  "64:ff9b:1::/48",
].map((text) => rangeOf(text)!);

/** IPv6 ranges with an IPv4 address in them, and where it ends, counted in bits from the end. */
const EMBEDDING = [
  { range: rangeOf("::/96")!, end: 0n },
  { range: rangeOf("::ffff:0:0/96")!, end: 0n },
  { range: rangeOf("64:ff9b::/96")!, end: 0n }, // NAT64 (RFC 6052)
  { range: rangeOf("2002::/16")!, end: 80n }, // 6to4 (RFC 3056)
];

/** Teredo (RFC 4380): the server's address, and the inverted one of the client. */
const TEREDO = rangeOf("2001::/32")!;

const LAST_32 = 0xffff_ffffn;

/** Parses comma-separated host names, addresses and CIDR ranges. Undefined if one is invalid. */
export function parseAllowedTargets(list: string): AllowedTargets | undefined {
  const entries = list.split(",").map((entry) => entry.trim());
  const ranges = entries.map(rangeOf);
  const names = entries.filter((_, i) => !ranges[i]);
  const hosts = names.map((name) => URL.parse(`http://${name}/`)?.hostname);
  // What URL makes an address, or has a port or a path, is not a host name.
  if (names.some((name, i) => name.toLowerCase() !== hosts[i])) return;
  return {
    hosts: new Set(names.map((name) => name.toLowerCase())),
    ranges: ranges.filter((range) => range !== undefined),
  };
}

/** The host of a URL: a name without a trailing dot, or an address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/**
 * What forbids a URL whose host has these addresses: none if its name does not resolve. A
 * name may have public addresses and others, so each of them counts.
 */
export function faultsOf(
  url: URL,
  addresses: readonly string[],
  { hosts, ranges }: AllowedTargets,
): ("https_required" | "forbidden_target")[] {
  const host = hostOf(url);
  if (hosts.has(host)) return [];
  const isLocal = /(?:^|\.)localhost$/.test(host);
  const allowed = addresses.filter((address) => isIn(ranges, address));
  const isInside = !isLocal && addresses.length > 0 &&
    allowed.length === addresses.length;
  const isForbidden = isLocal ||
    addresses.some((address) => !isPublic(address) && !isIn(ranges, address));
  return [
    ...url.protocol !== "https:" && !isInside
      ? ["https_required" as const]
      : [],
    ...isForbidden ? ["forbidden_target" as const] : [],
  ];
}

function isPublic(text: string): boolean {
  const address = addressOf(text);
  return address !== undefined &&
    [address, ...embeddedIn(address)].every((one) =>
      !FORBIDDEN.some((range) => contains(range, one))
    );
}

/** The IPv4 addresses that an IPv6 address leads to. */
function embeddedIn(address: Address): Address[] {
  const values = EMBEDDING.filter(({ range }) => contains(range, address))
    .map(({ end }) => address.value >> end);
  if (contains(TEREDO, address)) {
    values.push(address.value >> 64n, ~address.value);
  }
  return values.map((value) => ({ bits: 32, value: value & LAST_32 }));
}

/** Whether one of the ranges contains the address. An IPv4-mapped address counts as IPv4. */
function isIn(ranges: readonly AddressRange[], text: string): boolean {
  const address = addressOf(text);
  if (!address) return false;
  const isMapped = address.bits === 128 && address.value >> 32n === 0xffffn;
  const all = isMapped ? [address, ...embeddedIn(address)] : [address];
  return ranges.some((range) => all.some((one) => contains(range, one)));
}

function contains(
  { bits, value, prefix }: AddressRange,
  address: Address,
): boolean {
  const rest = BigInt(bits - prefix);
  return bits === address.bits && value >> rest === address.value >> rest;
}

/** A range such as `10.1.0.0/16`, or a single address. */
function rangeOf(text: string): AddressRange | undefined {
  const [, base, length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = base && addressOf(base);
  if (!address) return;
  const prefix = length === undefined ? address.bits : Number(length);
  return prefix <= address.bits ? { ...address, prefix } : undefined;
}

function addressOf(text: string): Address | undefined {
  // An address in a URL has brackets, a link-local one has a zone.
  const address = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  switch (isIP(address)) {
    case 4:
      return { bits: 32, value: numberOf(address.split(".").map(Number), 8n) };
    case 6: {
      // The URL parser writes an IPv4 tail as groups.
      const { hostname } = new URL(`http://[${address}]`);
      const [before, after] = hostname.slice(1, -1).split("::")
        .map((part) => part.split(":").filter((group) => group));
      const zeros = Array(8 - before!.length - (after?.length ?? 0)).fill("0");
      const groups = [...before!, ...zeros, ...after ?? []];
      const numbers = groups.map((group) => parseInt(group, 16));
      return { bits: 128, value: numberOf(numbers, 16n) };
    }
  }
}

function numberOf(parts: number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => sum << bits | BigInt(part), 0n);
}

import { BlockList, isIP } from "node:net";

/*
 * Decides which addresses a webhook may call: public addresses, and those that the operator allows.
 * All others are in the operator's network, which clients must not reach through the service
 * (server-side request forgery).
 */

/** A host name, whatever it resolves to, or a range of addresses, and a port of them or all. */
interface AllowedTarget {
  name?: string;
  range?: BlockList | undefined;
  port: string | undefined;
}

/** The targets that are allowed besides public addresses, also by `http`. */
export type AllowedTargets = readonly AllowedTarget[];

/** The ranges that are not public (RFC 6890 and its registries). */
const FORBIDDEN = rangeOf(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8"],
  ...["169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"],
  ...["192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"],
  ...["203.0.113.0/24", "224.0.0.0/3"],
  // In 2000::/3: protocol assignments such as Teredo, documentation, and 6to4.
  ...["2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16"],
)!;

/** The global unicast addresses of IPv6 (RFC 4291, 2.4). */
const GLOBAL = rangeOf("2000::/3")!;

/** An IPv6 address with an IPv4 address in its end: IPv4-mapped (RFC 4291), or NAT64 (RFC 6052). */
const EMBEDDING = /^\[(?:::ffff|64:ff9b:):([\da-f]{1,4}):([\da-f]{1,4})\]$/;

/** An entry of the list, with a port or without. An IPv6 address with a port has brackets. */
const HOST_AND_PORT = /^(\[[^\]]+\][^:]*|[^:]+):(\d{1,5})$/;

/**
 * Parses comma-separated host names, addresses and CIDR ranges, each of which may have a
 * port. Undefined if one is invalid.
 */
export function parseAllowedTargets(list: string): AllowedTargets | undefined {
  const targets: AllowedTarget[] = [];
  for (const entry of list.split(",").map((entry) => entry.trim())) {
    const [, place = entry, port] = HOST_AND_PORT.exec(entry) ?? [];
    const range = rangeOf(place.replace(/^\[(.*)\]/, "$1"));
    const name = place.toLowerCase();
    // What URL makes an address, or has a path, is not a host name. `*` would match no host.
    const isName = !name.includes("*") &&
      URL.parse(`http://${name}/`)?.hostname === name;
    if (!range && !isName || Number(port) > 65_535) return;
    targets.push(range ? { range, port } : { name, port });
  }
  return targets;
}

/** The host of a URL: a name without a trailing dot, or an address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/**
 * The reasons to refuse a URL whose host has these addresses, or no address if its name does not
 * resolve. One private address among public ones is enough.
 */
export function faultsOf(
  url: URL,
  addresses: readonly string[],
  allowed: AllowedTargets,
): ("https_required" | "forbidden_target")[] {
  const host = hostOf(url);
  const isHttps = url.protocol === "https:";
  const port = url.port || (isHttps ? "443" : "80");
  const ofPort = allowed.filter((target) => (target.port ?? port) === port);
  if (ofPort.some(({ name }) => name === host)) return [];
  const isAllowed = (address: string) =>
    ofPort.some(({ range }) => range && isInRange(range, address));
  const isLocal = /(?:^|\.)localhost$/.test(host);
  const isInside = !isLocal && addresses.length > 0 &&
    addresses.every(isAllowed);
  const isForbidden = isLocal ||
    addresses.some((address) => !isPublic(address) && !isAllowed(address));
  return [
    ...isHttps || isInside ? [] : ["https_required" as const],
    ...isForbidden ? ["forbidden_target" as const] : [],
  ];
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !isInRange(FORBIDDEN, address);
  // The URL parser writes an IPv4 tail as groups. A link-local address has a zone.
  const text = URL.parse(`http://[${address.replace(/%.*$/, "")}]`)?.hostname;
  const [, high, low] = EMBEDDING.exec(text ?? "") ?? [];
  return high
    ? isPublic(
      [high, low!].map((group) => parseInt(group, 16))
        .flatMap((bits) => [bits >> 8, bits & 255]).join("."),
    )
    : isInRange(GLOBAL, address) && !isInRange(FORBIDDEN, address);
}

/** Whether the range has the address. `BlockList` takes an IPv4-mapped one as IPv4. */
function isInRange(range: BlockList, address: string): boolean {
  return range.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** The addresses of CIDR ranges such as `10.1.0.0/16` (RFC 4632), or single ones. */
function rangeOf(...texts: string[]): BlockList | undefined {
  const list = new BlockList();
  for (const text of texts) {
    const [, base = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const version = isIP(base);
    const bits = version === 4 ? 32 : 128;
    const prefix = length === undefined ? bits : Number(length);
    if (version === 0 || prefix > bits) return;
    list.addSubnet(base, prefix, version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

import { BlockList, isIP, isIPv4 } from "node:net";

export interface AddressSet {
  has(address: string): boolean;
}

const ipv4Mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const ipv6Zone = /%.*$/s;

/** Normalizes an IP address: removes a zone such as `%eth0`, lower-cases it, turns `::ffff:1.2.3.4` into `1.2.3.4`. */
export function normalizeAddress(address: string): string {
  const bare = address.replace(ipv6Zone, "");
  return ipv4Mapped.exec(bare)?.[1] ?? bare.toLowerCase();
}

export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  if (isIP(address) === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128));
}

export function addressSet(ranges: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return {
    has: (address) => {
      const plain = normalizeAddress(address);
      return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
    },
  };
}

function addRange(list: BlockList, range: string): void {
  if (!isAddressRange(range)) throw new Error(`${JSON.stringify(range)} is no address and no CIDR like 10.0.0.0/8.`);
  const [written = "", bits] = range.split("/");
  const address = normalizeAddress(written);
  if (bits === undefined) list.addAddress(address, familyOf(address));
  // An IPv4-mapped IPv6 range has 96 more prefix bits than its IPv4 range: `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
  else list.addSubnet(address, address === written.toLowerCase() ? Number(bits) : Number(bits) - 96, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}

export interface ForwardedAddresses {
  readonly peer: string;
  readonly forwarded: string;
  readonly forwardedFor: string;
}

/**
 * Returns the client's address: the last hop that is not a trusted proxy, or else the first hop. Hops before an
 * untrusted one may be forged. Uses `X-Forwarded-For` only without `Forwarded` (RFC 7239, sections 4 and 5.2).
 */
export function clientAddress({ peer, forwarded, forwardedFor }: ForwardedAddresses, trusted: AddressSet): string {
  let address = normalizeAddress(peer);
  if (forwarded === "" && forwardedFor === "") return address;
  const hops = forwarded === "" ? forwardedFor.split(",").map(addressOf) : forwardedHops(forwarded);
  for (const hop of hops.toReversed()) {
    // If a trusted proxy names no valid address, the proxy's own address counts as the client's.
    if (!trusted.has(address) || hop === null) return address;
    address = hop;
  }
  return address;
}

function forwardedHops(forwarded: string): readonly (string | null)[] {
  return splitOutsideQuotes(forwarded, ",").map((element) => {
    const pair = splitOutsideQuotes(element, ";").find((part) => /^\s*for\s*=/i.test(part));
    return pair === undefined ? null : addressOf(pair.replace(/^[^=]*=/, ""));
  });
}

function splitOutsideQuotes(text: string, separator: "," | ";"): readonly string[] {
  const pattern = separator === "," ? /(?:"(?:[^"\\]|\\.)*"|[^,"])+/g : /(?:"(?:[^"\\]|\\.)*"|[^;"])+/g;
  return text.match(pattern) ?? [];
}

/** Reads the IP address in a text with optional quotes and port, such as `"[2001:db8::1]:4711"`; `null` if invalid. */
function addressOf(text: string): string | null {
  const bare = text.trim().replace(/^"(.*)"$/, "$1");
  const address = /^\[([^\]]+)\](?::\w+)?$/.exec(bare)?.[1] ?? /^([\d.]+):\w+$/.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : normalizeAddress(address);
}

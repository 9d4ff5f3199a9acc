import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { addressSet, normalizeAddress } from "../addresses.ts";

/** Refuses deliveries to private networks, to other networks for special purposes, and to this machine. */
export interface AddressGuard {
  /** Returns why the server refuses to deliver to a URL, or `null`. Does not resolve host names. */
  addressRefusal(url: string): string | null;
  /** Resolves a host name, as `dns.lookup` does. Fails if the server refuses to deliver to any of its addresses. */
  readonly lookup: LookupFunction;
}

export type Resolver = (name: string, done: (error: Error | null, addresses: readonly LookupAddress[]) => void) => void;

export interface GuardOptions {
  readonly allowsLoopback: boolean;
  readonly allowed: readonly string[];
  /** Addresses of this machine, refused unless in `allowed`. Default: the addresses of all network interfaces. */
  readonly machineAddresses?: readonly string[];
  readonly resolve?: Resolver;
}

export class RefusedAddressError extends Error {
  override readonly name = "RefusedAddress";
}

const systemResolver: Resolver = (name, done) =>
  systemLookup(name, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));

export function addressGuard(options: GuardOptions): AddressGuard {
  const { allowsLoopback, resolve = systemResolver } = options;
  const allowed = addressSet(options.allowed);
  const machineAddresses = addressSet((options.machineAddresses ?? ownAddresses()).map(normalizeAddress));
  const isAllowed = (address: string) => allowed.has(address) || (allowsLoopback && loopbackNetworks.has(address));
  const isRefused = (address: string) => {
    const all = equivalentAddresses(address);
    return all.some((each) => privateNetworks.has(each) || machineAddresses.has(each)) && !all.some(isAllowed);
  };
  return {
    addressRefusal: (text) => {
      const url = URL.parse(text);
      if (url === null) return "it is no URL";
      if (url.protocol !== "http:" && url.protocol !== "https:") return "only http and https are allowed";
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const refused = isIP(host) === 0 ? isLocalName(host) && isRefused("127.0.0.1") : isRefused(host);
      return refused ? `${host} is an address that this server does not deliver to` : null;
    },
    lookup: (name, { all }, done) => {
      resolve(name, (error, addresses) => {
        if (error !== null) return done(error, "");
        // Refuses a host name if any of its addresses is refused, because the connection may try every address.
        const refused = addresses.find(({ address }) => isRefused(address));
        const [first] = addresses;
        if (refused !== undefined)
          return done(new RefusedAddressError(`${name} leads to an address that this server does not deliver to`), "");
        if (first === undefined) return done(new RefusedAddressError(`${name} has no address`), "");
        if (all === true) return done(null, [...addresses]);
        return done(null, first.address, first.family);
      });
    },
  };
}

/** Whether a host is `localhost` or one of its subdomains. Source: RFC 6761, section 6.3. */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host);
}

export function isLoopbackHost(host: string): boolean {
  return isLocalName(host) || equivalentAddresses(host).some((address) => loopbackNetworks.has(address));
}

/** Networks that {@link AddressGuard} refuses by default. Most are IANA special-purpose networks (RFC 6890). */
const privateNetworks = addressSet([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Link-local addresses. 169.254.169.254 is the metadata service of most clouds.
  "169.254.0.0/16",
  // A public IP address of Azure's internal services, which only virtual machines of Azure reach.
  "168.63.129.16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  // Reserved for documentation (RFC 5737), like 198.51.100.0/24 and 203.0.113.0/24 below.
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::",
  "::1",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2001:db8::/32",
  "3fff::/20",
  // Unique local addresses. They include fd00:ec2::254, a metadata service of cloud machines.
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
]);

export const loopbackNetworks = addressSet(["127.0.0.0/8", "::1"]);

const prefixes = {
  /** Prefix of IPv4-mapped addresses. Source: RFC 4291, section 2.5.5.2. */
  mapped: "0:0:0:0:0:ffff",
  /** Prefix of IPv4-compatible addresses. Source: RFC 4291, section 2.5.5.1. */
  compatible: "0:0:0:0:0:0",
  /** Prefix of IPv4-translated addresses. Source: RFC 2765, section 2.1. */
  translated: "0:0:0:0:ffff:0",
  /** Prefix of NAT64 addresses, by which IPv6 clients reach IPv4 servers. Source: RFC 6052, section 2.1. */
  nat64: "64:ff9b:0:0:0:0",
};

/** Returns an address and the IPv4 address embedded in it, if any. A connection to the first may reach the second. */
function equivalentAddresses(address: string): readonly string[] {
  const plain = normalizeAddress(address);
  if (!isIPv6(plain)) return [plain];
  const groups = groupsOf(plain);
  const head = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(":");
  // A 6to4 address has the prefix 2002, then an IPv4 address. Source: RFC 3056, section 2.
  if (groups[0] === 0x2002) return [plain, toDottedIpv4(groups[1], groups[2])];
  const [high = 0, low = 0] = groups.slice(6);
  // `::` and `::1` have the prefix of IPv4-compatible addresses, but they do not embed an IPv4 address.
  const embedsIpv4 =
    Object.values(prefixes).includes(head) && !(head === prefixes.compatible && high === 0 && low <= 1);
  return embedsIpv4 ? [plain, toDottedIpv4(high, low)] : [plain];
}

function toDottedIpv4(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function groupsOf(address: string): readonly number[] {
  // `URL` normalizes an IPv6 address to hexadecimal groups: `::ffff:1.2.3.4` becomes `::ffff:102:304`.
  const { hostname } = new URL(`http://[${address}]/`);
  const [left = "", right = ""] = hostname.slice(1, -1).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const first = groups(left);
  const last = groups(right);
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

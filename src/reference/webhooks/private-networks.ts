import { isIPv6 } from "node:net";
import { addressSet, normalizeAddress } from "../addresses.ts";

/** Networks that no stranger's URL may make the server talk to. Source: the IANA special-purpose address registries (RFC 6890). */
export const privateNetworks = addressSet([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Link-local, and with 169.254.169.254 the metadata service of most clouds.
  "169.254.0.0/16",
  // Public by its number, and of no other use than to answer a virtual machine of Azure for its host.
  "168.63.129.16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  // For documentation (RFC 5737), as are 198.51.100.0/24, 203.0.113.0/24 and the two IPv6 networks below.
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
  // Unique local, and with fd00:ec2::254 a metadata service.
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
]);

export const loopbackNetworks = addressSet(["127.0.0.0/8", "::1"]);

const prefixes = {
  /** RFC 4291, 2.5.5.2. */
  mapped: "0:0:0:0:0:ffff",
  /** RFC 4291, 2.5.5.1. */
  compatible: "0:0:0:0:0:0",
  /** RFC 2765, 2.1. */
  translated: "0:0:0:0:ffff:0",
  /** RFC 6052, 2.1. */
  nat64: "64:ff9b:0:0:0:0",
};

/** An address, and the IPv4 address that it leads to where it is an IPv6 one that carries one. */
export function equivalentAddresses(address: string): readonly string[] {
  const plain = normalizeAddress(address);
  if (!isIPv6(plain)) return [plain];
  const groups = groupsOf(plain);
  const head = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(":");
  // RFC 3056, 2: the address of the gateway stands behind the prefix.
  if (groups[0] === 0x2002) return [plain, dotted(groups[1], groups[2])];
  const [high = 0, low = 0] = groups.slice(6);
  // `::` and `::1` have the prefix of compatible ones, and are none.
  const carries = Object.values(prefixes).includes(head) && !(head === prefixes.compatible && high === 0 && low <= 1);
  return carries ? [plain, dotted(high, low)] : [plain];
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // A URL writes every IPv6 address in one form, without dots.
  const { hostname } = new URL(`http://[${address}]/`);
  const [left = "", right = ""] = hostname.slice(1, -1).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const first = groups(left);
  const last = groups(right);
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

import { memoizeByObject, once } from "../base/memoize.ts";

/** Whether an address list includes this machine. `unknown`: a NAT may give this machine an address in the list. */
export type Inclusion = "included" | "not included" | "unknown";

export const inclusionOfThisMachine = memoizeByObject((allowed: readonly string[]): Inclusion =>
  inclusionOfAny(ownAddresses(), allowed),
);

export function inclusionOfAny(own: readonly string[], allowed: readonly string[]): Inclusion {
  const list = blockListOf(allowed);
  if (own.some((address) => listIncludes(list, address))) return "included";
  const isTranslated = !own.some(isPublicAddress);
  return isTranslated && allowed.some((entry) => isPublicAddress(addressOf(entry))) ? "unknown" : "not included";
}

/** Whether a text is an IP address, or a range such as `203.0.113.0/28`. */
export const isAddressOrRange = (text: string): boolean => blockListOf([text]).rules.length > 0;

export const isListed = (list: readonly string[], address: string): boolean => listIncludes(blockListOf(list), address);

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));

const addressOf = (entry: string): string => entry.split("/", 1)[0] ?? "";

/** Address ranges that are not public, such as private, local, multicast and documentation ranges (RFC 6890). */
const nonPublicRanges = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "::/127",
  "2001:db8::/32",
  "fc00::/7",
  "fe80::/10",
] as const;

export const isPublicAddress = (address: string): boolean =>
  isIP(address) !== 0 && !listIncludes(notPublicList(), address);

const notPublicList = once(() => blockListOf(nonPublicRanges));

function blockListOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const address = addressOf(entry);
    const version = isIP(address);
    if (version === 0) continue;
    const family = version === 6 ? "ipv6" : "ipv4";
    const bits = Number(entry.split("/")[1] ?? maxBits[family]);
    if (Number.isInteger(bits) && bits >= 0 && bits <= maxBits[family]) list.addSubnet(address, bits, family);
  }
  return list;
}

const maxBits = { ipv4: 32, ipv6: 128 } as const;

const listIncludes = (list: BlockList, address: string): boolean =>
  list.check(address.replace(/%.*$/, ""), isIP(address.replace(/%.*$/, "")) === 6 ? "ipv6" : "ipv4");

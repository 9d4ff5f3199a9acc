import { BlockList, isIP, isIPv4 } from "node:net";

/** A set of addresses, named by single ones and by CIDRs. */
export interface AddressSet {
  has(address: string): boolean;
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const zone = /%.*$/s;

/** An address in the one form it is compared in: an IPv4 address mapped into IPv6 is that IPv4 address, and zones are dropped. */
export function normalizeAddress(address: string): string {
  const bare = address.replace(zone, "");
  return mapped.exec(bare)?.[1] ?? bare.toLowerCase();
}

/** Whether a text is an address or a CIDR such as `10.0.0.0/8` or `fd00::/8`. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  if (isIP(address) === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128));
}

/** @throws {Error} where one of the ranges is neither an address nor a CIDR. */
export function addressSet(ranges: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const range of ranges) add(list, range);
  return {
    has: (address) => {
      const plain = normalizeAddress(address);
      return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
    },
  };
}

function add(list: BlockList, range: string): void {
  if (!isAddressRange(range)) throw new Error(`${JSON.stringify(range)} is no address and no CIDR like 10.0.0.0/8.`);
  const [written = "", bits] = range.split("/");
  const address = normalizeAddress(written);
  if (bits === undefined) list.addAddress(address, familyOf(address));
  // A range of mapped addresses is the range of IPv4 addresses that they stand for.
  else list.addSubnet(address, address === written.toLowerCase() ? Number(bits) : Number(bits) - 96, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}

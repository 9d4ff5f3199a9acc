import { BlockList, isIP } from "node:net";

const local = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  local.addSubnet(network, prefix, "ipv4");
local.addAddress("::", "ipv6");
local.addAddress("::1", "ipv6");
local.addSubnet("fc00::", 7, "ipv6");
local.addSubnet("fe80::", 10, "ipv6");

/** Names that never resolve on the public Internet (RFC 6761, RFC 6762, RFC 9476, ICANN's `.internal`), and names without a dot. */
const localName = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|test|home\.arpa)$/i;

/** Whether a URL's host is this machine or in a private network: loopback, link-local, private, unspecified, or a local name. */
export function isLocalAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  if (family === 0) return localName.test(host);
  return local.check(host, family === 6 ? "ipv6" : "ipv4");
}

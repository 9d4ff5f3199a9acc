import { BlockList, isIP } from "node:net";

import { check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, follows } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { inspectCertificate } from "../../wire/certificate.ts";

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

/** Host names without a dot, or in domains that never resolve in public DNS (RFC 6761, RFC 6762, RFC 8375, ICANN). */
const localName = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|test|home\.arpa)$/i;

export function isLocalAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  if (family === 0) return localName.test(host);
  return local.check(host, family === 6 ? "ipv6" : "ipv4");
}

const isSecure = (url: string): boolean => /^https:/i.test(url);

const addressInspected = probe(
  "the target's scheme and certificate are looked at",
  { requests: 0, reads: true },
  async ({ discovery: { listing }, target }) => {
    const { url } = listing.request;
    return { listing, certificate: isSecure(url) ? await inspectCertificate(url, target.network) : null };
  },
);

/** Judges REQ-1: the target uses HTTPS with a trusted certificate. A local address needs neither. */
function judgeAddress({ listing, certificate }: EvidenceOf<typeof addressInspected>): Finding<"https" | "local"> {
  const { url } = listing.request;
  const address = url.split("/").slice(0, 3).join("/");
  const isLocal = isLocalAddress(url);
  if (!isSecure(url)) return isLocal ? follows("local") : breach("`https://`", address, listing);
  if (isLocal || certificate === null || certificate.kind === "unseen" || certificate.authorized)
    return follows("https");
  const { problem, names, validTo } = certificate;
  return breach(
    `a certificate for ${new URL(url).hostname} that clients trust`,
    `${problem ?? "one that is not trusted"} (for ${names.join(", ")}; valid to ${validTo})`,
    listing,
  );
}

export const addressCheck = check("REQ-1", addressInspected, judgeAddress);

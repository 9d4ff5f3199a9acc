import type { Exchange } from "../../evidence/exchange.ts";
import { check } from "../../run/judge/check.ts";
import { breach, type Finding, follows } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { type CertificateInspection, inspectCertificate } from "../../wire/certificate.ts";
import { isLocalAddress } from "./local-address.ts";

/** How the target's address is served. */
export interface Served {
  readonly listing: Exchange;
  /** Of an address under `https:`; `null` for any other. */
  readonly certificate: CertificateInspection | null;
}

const isSecure = (url: string): boolean => /^https:/i.test(url);

export const addressLookedAt = probe(
  "the target's scheme and certificate are looked at",
  { requests: 0, reads: true },
  async ({ discovery: { listing }, target }): Promise<Served> => {
    const { url } = listing.request;
    return { listing, certificate: isSecure(url) ? await inspectCertificate(url, target.network) : null };
  },
);

/** A local address may have a certificate that nobody else trusts; one in the cloud is of no use to its clients with it. */
function judgeAddress({ listing, certificate }: Served): Finding<"https" | "local"> {
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

export const addressCheck = check("REQ-1", addressLookedAt, judgeAddress);

import type { Exchange } from "../../evidence/exchange.ts";
import { check } from "../../run/judge/check.ts";
import { breach, type Finding, follows } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { type CertificateInspection, inspectCertificate } from "../../wire/certificate.ts";
import { isLocalAddress } from "./local-address.ts";

/** The target's address and certificate. */
export interface Served {
  readonly listing: Exchange;
  /** Certificate of an `https:` address; `null` for any other. */
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

/** Judges the scheme and the certificate. Only a local address may do without TLS or have an untrusted certificate. */
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

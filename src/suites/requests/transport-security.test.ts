import { describe, expect, it } from "vitest";

import { suite } from "../../run/judge/check.ts";
import type { CertificateInspection } from "../../wire/certificate.ts";
import { exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { addressCheck } from "./transport-security.ts";

const seen = (problem: string | null): CertificateInspection => ({
  kind: "seen",
  names: ["a.example"],
  validTo: "Mar  4 05:06:07 2026 GMT",
  authorized: problem === null,
  problem,
});

function listingAt(origin: string) {
  const listing = exchange({ method: "GET", path: "/agents?page=1&limit=2" });
  return { ...listing, request: { ...listing.request, url: `${origin}/v1/agents?page=1&limit=2` } };
}

describe("the target's address", () => {
  it.each<[string, CertificateInspection | null, string]>([
    ["https://api.a.example", seen(null), "https"],
    ["https://api.a.example", seen("CERT_HAS_EXPIRED"), "breach"],
    ["https://api.a.example", seen("DEPTH_ZERO_SELF_SIGNED_CERT"), "breach"],
    ["https://api.a.example", { kind: "unseen", reason: "reset" }, "https"],
    ["https://localhost:8443", seen("DEPTH_ZERO_SELF_SIGNED_CERT"), "https"],
    ["http://api.a.example", null, "breach"],
    ["http://127.0.0.1:8000", null, "local"],
  ])("%s with %j", (origin, certificate, expected) => {
    const evidence = { listing: listingAt(origin), certificate };
    expect(judged(suite("Address", [addressCheck]), "REQ-1", evidence)).toBe(expected);
  });
});

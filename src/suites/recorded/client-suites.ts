import type { ProbeResult } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Check, Suite } from "../../run/judge/check.ts";
import { unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import { suitesOfParty } from "../all.ts";
import { type ObservedRuns, ranPlainly } from "../client/probes.ts";
import { notInRecordings } from "./recorded-suites.ts";

/** Skips the check that must know the client's signing secret. */
const withoutSecret = (check: Check): Check =>
  check.clause === "CLI-10"
    ? { ...check, on: {}, judge: () => unproven("the secret that signs the requests is not known") }
    : check;

/** The suites of a client whose requests passed a recording proxy. It may send wrong requests on purpose. */
export const recordedClientSuites: readonly Suite[] = suitesOfParty("client").map(({ title, checks }) => ({
  title,
  checks: checks.map(withoutSecret),
}));

/** Returns requests that passed a recording proxy as a client probe's result. */
export function clientTrafficResult(
  { name }: Probe,
  exchanges: readonly Exchange[],
  startedUnixMs: number,
): Extract<ProbeResult, { kind: "ran" }> | { readonly kind: "skipped"; readonly reason: string; readonly needs: null } {
  if (name !== ranPlainly.name) return { kind: "skipped", reason: notInRecordings, needs: null };
  const calls = exchanges.map((exchange) => ({
    exchange,
    trouble: null,
    leftMs: null,
    receivedUnixMs: startedUnixMs + exchange.sentMs,
    computedSignatures: [],
  }));
  const evidence: ObservedRuns = {
    isStrict: false,
    runs: [{ stage: "plain", calls, end: { kind: "exited", code: 0 } }],
  };
  return { kind: "ran", evidence };
}

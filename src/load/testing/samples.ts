import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { histogramsOf } from "../histogram.ts";
import { type LoadEvidence, loadEvidenceFormat, type LoadSample } from "../../evidence/load-evidence.ts";

/** Makes the sample of an admitted request. `other` replaces some of its fields. */
export const sample = (other: Partial<LoadSample> = {}): LoadSample => ({
  flow: "serial",
  key: "main",
  sentMs: 1000,
  headMs: 1002,
  endMs: 1003,
  status: 200,
  ...noRateLimitInfo,
  limit: 10,
  remaining: 9,
  reset: 60,
  resetAfter: 59,
  date: 1,
  left: false,
  tokens: 2,
  flaws: [],
  ...other,
});

/** Makes the evidence of a scenario on a Free key, with these requests. */
export const evidenceOf = (requests: readonly LoadSample[], other: Partial<LoadEvidence> = {}): LoadEvidence => ({
  format: loadEvidenceFormat,
  scenario: "minute-limit",
  engine: "k6",
  engineVersion: "2.2.0",
  tier: "free",
  limits: publishedTiers.free,
  flows: [],
  isFresh: true,
  startedAt: "2026-03-04T05:06:07.000Z",
  durationMs: 1000,
  speed: 1,
  segments: ["0:1"],
  notes: [],
  requests: [...requests],
  summary: [],
  generator: { planned: requests.length, sent: requests.length, dropped: 0, late: 0, busiest: 0.1 },
  latency: histogramsOf(requests),
  streams: [],
  ledger: null,
  deliveries: null,
  server: null,
  stopped: null,
  ...other,
});

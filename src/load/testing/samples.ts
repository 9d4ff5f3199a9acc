import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { histogramsOf } from "../latency-histogram.ts";
import { type LoadEvidence, loadEvidenceFormat, type LoadSample } from "../../evidence/load-evidence.ts";
import type { Flow } from "../scenarios.ts";
import { mergeEvidence } from "../merge.ts";
import { isSequential } from "../judge/sampled-requests.ts";

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

const machines = 3;

/** Splits a run over three machines whose clocks differ by `apartMs`, and merges the parts. */
export function splitOverMachines(evidence: LoadEvidence, apartMs: number): LoadEvidence {
  if (apartMs === 0) return evidence;
  const flows = new Map(evidence.flows.map((flow) => [flow.name, flow]));
  const parts = Array.from({ length: machines }, (_, machine): LoadEvidence => {
    const offsetMs = (machine / (machines - 1) - 0.5) * apartMs;
    const requests = evidence.requests.filter((each, at) => machineOf(flows.get(each.flow), at) === machine);
    return {
      ...evidence,
      segments: [`${machine}/${machines}:${machine + 1}/${machines}`.replace("0/3", "0").replace("3/3", "1")],
      requests: requests.map((each) => shifted(each, offsetMs)),
      latency: histogramsOf(requests),
      generator: {
        ...evidence.generator,
        planned: machine === 0 ? evidence.generator.planned : 0,
        sent: requests.length,
      },
    };
  });
  return mergeEvidence(parts, apartMs);
}

/** Chooses a machine for each request. Sequential requests stay on one machine. */
const machineOf = (flow: Flow | undefined, at: number): number =>
  flow === undefined || isSequential(flow) ? 0 : at % machines;

const shifted = (one: LoadSample, ms: number): LoadSample => ({
  ...one,
  sentMs: one.sentMs + ms,
  headMs: one.headMs + ms,
  endMs: one.endMs + ms,
});

import type { Flow } from "../../scenarios.ts";
import { histogramsOf } from "../../histogram.ts";
import type { LoadEvidence, LoadSample } from "../../../evidence/load-evidence.ts";
import { mergeEvidence } from "../../merge.ts";
import { isSequential } from "../sampled-requests.ts";

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

const shifted = (sample: LoadSample, ms: number): LoadSample => ({
  ...sample,
  sentMs: sample.sentMs + ms,
  headMs: sample.headMs + ms,
  endMs: sample.endMs + ms,
});

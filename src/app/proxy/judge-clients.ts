import { type Judgement, judgeEvidence, resultsByProbe } from "../../run/judge/judge-evidence.ts";
import { planProbes } from "../../run/plan/plan.ts";
import type { RecordedTraffic } from "../../run/review-recording.ts";
import type { ProbeRun } from "../../run/probe-run.ts";
import type { RunResult } from "../../run/run-result.ts";
import { latestRequirements } from "../../spec/requirements.ts";
import { clientTrafficResult, recordedClientSuites } from "../../suites/recorded/client-suites.ts";
import { redactRun } from "../judge/redacted-run.ts";
import {
  type JudgeRecordingOptions,
  type RecordingDescription,
  describeRecording,
  withoutBodies,
} from "../recording/judge-recording.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { packageVersion } from "../../base/package-root.ts";

function clientProbeRuns({ target, exchanges, startedUnixMs }: RecordedTraffic): ProbeRun[] {
  return planProbes(recordedClientSuites, target).map((planned) => ({
    planned,
    result: clientTrafficResult(planned.probe, exchanges, startedUnixMs),
  }));
}

/** Judges the requests that clients sent through a proxy, by the clauses for clients. */
export const judgeClientRequests = (traffic: RecordedTraffic): Judgement[] =>
  judgeEvidence(recordedClientSuites, resultsByProbe(clientProbeRuns(traffic)));

/**
 * Assembles the report on the clients of a proxy. Their requests are judged together, as if they came from one client.
 */
export function reportOnClients(
  given: RecordedTraffic,
  description: RecordingDescription,
  { messages, keepsBodies }: Pick<JudgeRecordingOptions, "messages" | "keepsBodies">,
): SavedRun {
  const target = { ...given.target, name: `clients of ${given.target.name}` };
  const traffic = { ...given, target };
  const runs = clientProbeRuns(traffic);
  const result: RunResult = {
    kind: "judged",
    stopped: null,
    target,
    judgements: judgeEvidence(recordedClientSuites, resultsByProbe(runs)),
    runs,
    exchanges: traffic.exchanges,
    deliveries: [],
    receiver: null,
    listening: null,
    epochMs: traffic.startedUnixMs,
    requests: traffic.exchanges.length,
    executions: 0,
    lost: 0,
    away: null,
    waitedMs: 0,
    durationMs: traffic.durationMs,
  };
  const { report, evidence } = redactRun(
    result,
    {
      version: packageVersion(),
      party: "client",
      requirements: latestRequirements,
      started: new Date(traffic.startedUnixMs),
      finished: new Date(traffic.startedUnixMs + traffic.durationMs),
      unselected: [],
      messages,
    },
    { target, messages, signal: new AbortController().signal },
  );
  return {
    report: { ...report, recording: describeRecording(traffic, description) },
    evidence: keepsBodies ? evidence : withoutBodies(evidence),
  };
}

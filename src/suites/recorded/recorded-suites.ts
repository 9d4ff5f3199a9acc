import { type Check, type ProbesByName, probesOf, type Suite } from "../../run/judge/check.ts";
import { type Finding, type Observation, unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { suites, suitesOfParty } from "../all.ts";
import { recordedLimitChecks } from "./limit-checks.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type ObservedRuns, ranPlainly } from "../client/probes.ts";

/** Says which facts a recording of traffic contains. Some checks need facts that not every recording has. */
export interface RecordingContents {
  readonly times: boolean;
  /** Whether the recording shows when each event of a stream arrived. */
  readonly eventTimes: boolean;
  /** Whether the recording shows which requests had the same key. */
  readonly keys: boolean;
  /** Whether the recording shows the recorder's time of day. */
  readonly clock: boolean;
}

export const completeRecording: RecordingContents = { times: true, eventTimes: true, keys: true, clock: true };

const notInRecordings = "a recording of other traffic does not show this";

/** Why a check cannot judge a recording: it lacks a fact, or other clients may have used the key. */
type Exclusion = keyof RecordingContents | "own requests only";

const exclusionReasons: Readonly<Record<Exclusion, string>> = {
  times: "the recording does not have the time of every request",
  eventTimes: "the recording does not have the times of a stream's events",
  keys: "the recording hides which requests had the same key",
  clock: "the recording does not have the recorder's time of day",
  "own requests only": "other clients, which the recording does not show, may have used the key as well",
};

/** Checks that need more than a recording shows, by id. `own requests only`: they must know all requests of a key. */
const exclusions: Readonly<Record<string, Exclusion>> = {
  "HDR-12": "own requests only",
  "HDR-12/readings": "own requests only",
  "HDR-12/ledger": "own requests only",
  "LIM-11/ledger": "own requests only",
  "LIM-11/as sent": "own requests only",
  "LIM-26": "own requests only",
  "LIM-1/every key": "own requests only",
  "LIM-2/every key": "own requests only",
  "LIM-9/every key": "own requests only",
  "HDR-19/every endpoint": "own requests only",
  "HLT-16/ledger": "own requests only",
  "HLT-16/as sent": "own requests only",
  "KEY-10/ledger": "own requests only",
  "USE-7/ledger": "own requests only",
  "HDR-14": "clock",
  "HDR-15": "times",
  "SSE-28": "eventTimes",
  "USE-10": "keys",
};

export const excludedChecks: readonly string[] = Object.keys(exclusions);

/** Returns the suites of a server for a recording, without checks that need requests of their own or a missing fact. */
export const recordedSuites = (facts: RecordingContents): Suite[] =>
  suites.map(({ title, checks }) => ({
    title,
    checks: [
      // A check that widens another one judges requests of later probes, which a recording does not have.
      ...checks.filter(({ widens }) => widens === undefined).map((each) => adaptToRecording(each, facts)),
      ...(facts.times ? recordedLimitChecks : []).filter(({ suite }) => suite === title).map(({ check }) => check),
    ],
  }));

function adaptToRecording(check: Check, facts: RecordingContents): Check {
  const exclusion = exclusions[check.id];
  const isExcluded = exclusion !== undefined && (exclusion === "own requests only" || !facts[exclusion]);
  const [reviews, others] = splitProbes(probesOf(check.on));
  const reason = isExcluded ? exclusionReasons[exclusion] : notInRecordings;
  if (isExcluded || Object.keys(reviews).length === 0) return skipped(check, reason);
  const isSingle = "only" in reviews;
  return {
    ...check,
    on: reviews,
    matrix: check.matrix === null ? null : { ...check.matrix, coverageProbe: null },
    also: [],
    companions: [],
    judge: (evidence: object) =>
      withoutNeeds(
        judgeWithout(others, (missing) =>
          check.judge((isSingle ? evidence : Object.assign(missing, evidence)) as never),
        ),
      ),
  };
}

/** Removes recommended settings, because none adds requests to a recording. The tier of a key may still help. */
function withoutNeeds(finding: Finding | Observation): Finding | Observation {
  const bare =
    finding.kind === "unproven" ? { ...finding, needs: namesTier(finding.needs) ? need("tier") : null } : finding;
  if (!("seen" in bare) || bare.seen === undefined) return bare;
  return { ...bare, seen: { ...bare.seen, unseen: bare.seen.unseen.map((cell) => ({ ...cell, reach: null })) } };
}

const namesTier = (needs: Enabler | null): boolean => needs !== null && JSON.stringify(needs).includes('"tier"');

function splitProbes(probes: ProbesByName): readonly [reviews: ProbesByName, others: readonly string[]] {
  const entries = Object.entries(probes);
  return [
    Object.fromEntries(entries.filter(([, each]) => readsOnlyExchanges(each))),
    entries.flatMap(([name, each]) => (readsOnlyExchanges(each) ? [] : [name])),
  ];
}

/** Whether a probe only reads exchanges of the run. Probes with needs also read deliveries. */
const readsOnlyExchanges = ({ stage, needs }: Probe): boolean => stage === "review" && needs.length === 0;

const skipped = (check: Check, reason: string): Check => ({
  ...check,
  on: {},
  matrix: null,
  also: [],
  companions: [],
  judge: () => unproven(reason),
});

class NotRecorded extends Error {
  override readonly name = "NotRecorded";
}

/** Judges by a check although some probes did not run. The finding is `unproven` only if it reads their evidence. */
function judgeWithout(
  names: readonly string[],
  judge: (missing: object) => Finding | Observation,
): Finding | Observation {
  const missing = {};
  for (const name of names)
    Object.defineProperty(missing, name, {
      enumerable: true,
      configurable: true,
      get: () => {
        throw new NotRecorded(name);
      },
    });
  try {
    return judge(missing);
  } catch (error) {
    if (error instanceof NotRecorded) return unproven(notInRecordings);
    throw error;
  }
}

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

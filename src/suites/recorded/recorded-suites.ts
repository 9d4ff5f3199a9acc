import { type Check, type ProbesByName, probesOf, type Suite, check } from "../../run/judge/check.ts";
import { type Finding, type Observation, unproven, breach, holds } from "../../run/judge/finding.ts";
import { type Probe, probe } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { suites, suitesOfParty } from "../all.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type ObservedRuns, ranPlainly } from "../client/probes.ts";
import { hourMs, minuteMs } from "../../base/duration.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import { isRefused, type Sample } from "../../rules/limits/sample.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { usableKeys } from "../../target/target.ts";
import { judgeKeyHistory, maxAdmittedWithin, type RunKeyHistory } from "../limits/key-history.ts";

interface RecordedKey {
  readonly key: string;
  /** The key's requests except those that got 429, because requests outside the recording may have caused the 429. */
  readonly history: RunKeyHistory;
  readonly wasRefused: boolean;
}

const recordedKeys = probe(
  "the admitted requests of each key of the recording are looked over",
  { since: "1.1", requests: 0, stage: "review" },
  async ({ target, recorder }): Promise<{ readonly keys: readonly RecordedKey[] }> => ({
    keys: usableKeys(target).flatMap((key) => {
      const limits = limitsOf(key, target);
      const samples = recorder.sampleSeriesOf(key.name).flat();
      if (limits === null || samples.length === 0) return [];
      const history = {
        limits,
        isFresh: false,
        hasClock: target.clock !== null,
        samples: samples.filter((each) => !isRefused(each)).map(withLatestEnd),
        stragglers: [],
        lookalikes: [],
      };
      return [{ key: key.name, history, wasRefused: samples.some(isRefused) }];
    }),
  }),
);

/** A response may have arrived this much later than recorded: times can come from `Date`, which omits milliseconds. */
const maxLateMs = 1000;

const withLatestEnd = (sample: Sample): Sample => ({
  ...sample,
  headMs: sample.headMs + maxLateMs,
  endMs: sample.endMs + maxLateMs,
});

const windows = {
  minute: { ms: minuteMs, limitOf: ({ perMinute }: RunKeyHistory["limits"]) => perMinute },
  hour: { ms: hourMs, limitOf: ({ perHour }: RunKeyHistory["limits"]) => perHour },
} as const satisfies Partial<Record<LimitName, unknown>>;

function judgeWindow(keys: readonly RecordedKey[], name: keyof typeof windows): Finding<never> {
  if (keys.length === 0) return unproven("the tier of no key is known", need("tier"));
  for (const { key, history } of keys) {
    const judged = judgeKeyHistory(history);
    if (judged.kind === "breach" && judged.breach === "too many admitted" && judged.limit === name)
      return breach(judged.expected, `${judged.actual} (key ${key}: ${judged.witness.slice(0, 3).join(", ")}, …)`);
  }
  const { ms, limitOf } = windows[name];
  const isLimitTested = ({ history, wasRefused }: RecordedKey): boolean =>
    wasRefused && maxAdmittedWithin(history.samples, ms) >= limitOf(history.limits) / 2;
  return keys.some(isLimitTested) ? holds() : unproven(`no key was refused near the limit of its ${name}`);
}

const recordedLimitChecks: readonly Check[] = [
  check("LIM-1", recordedKeys, ({ keys }) => judgeWindow(keys, "minute"), { as: "recorded", since: "1.1" }),
  check("LIM-3", recordedKeys, ({ keys }) => judgeWindow(keys, "hour"), { as: "recorded", since: "1.1" }),
];

export interface RecordingContents {
  readonly times: boolean;
  readonly eventTimes: boolean;
  readonly keys: boolean;
  readonly clock: boolean;
}

export const fullRecordingContents: RecordingContents = { times: true, eventTimes: true, keys: true, clock: true };

const notInRecordings = "a recording of other traffic does not show this";

/**
 * Reason why a check cannot judge a recording. `own requests only`: unrecorded requests of other clients could make the
 * result wrong. Other reasons name data that the recording lacks, e.g. `clock`.
 */
type Exclusion = keyof RecordingContents | "own requests only";

const exclusionReasons: Readonly<Record<Exclusion, string>> = {
  times: "the recording does not have the time of every request",
  eventTimes: "the recording does not have the times of a stream's events",
  keys: "the recording hides which requests had the same key",
  clock: "the recording does not have the recorder's time of day",
  "own requests only": "other clients, which the recording does not show, may have used the key as well",
};

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

export const recordedSuites = (facts: RecordingContents): Suite[] =>
  suites.map(({ title, checks }) => ({
    title,
    checks: [
      // Leaves out checks with `widens`: they repeat other checks for newer probes, and a recording has no probes.
      ...checks.filter(({ widens }) => widens === undefined).map((each) => adaptToRecording(each, facts)),
      ...(facts.times && title === "Limits" ? recordedLimitChecks : []),
    ],
  }));

function adaptToRecording(original: Check, facts: RecordingContents): Check {
  const exclusion = exclusions[original.id];
  const isExcluded = exclusion !== undefined && (exclusion === "own requests only" || !facts[exclusion]);
  const [reviews, others] = splitProbes(probesOf(original.on));
  const reason = isExcluded ? exclusionReasons[exclusion] : notInRecordings;
  if (isExcluded || Object.keys(reviews).length === 0) return skipped(original, reason);
  const isSingle = "only" in reviews;
  return {
    ...original,
    on: reviews,
    matrix: original.matrix === null ? null : { ...original.matrix, coverageProbe: null },
    also: [],
    companions: [],
    judge: (evidence: object) =>
      withoutNeeds(
        judgeWithout(others, (missing) =>
          original.judge((isSingle ? evidence : Object.assign(missing, evidence)) as never),
        ),
      ),
  };
}

/**
 * Removes a finding's advice on how to test more, e.g. with another key: a recording sends no requests. Keeps the
 * advice to state the `tier` of a key.
 */
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

const readsOnlyExchanges = ({ stage, needs }: Probe): boolean => stage === "review" && needs.length === 0;

const skipped = (original: Check, reason: string): Check => ({
  ...original,
  on: {},
  matrix: null,
  also: [],
  companions: [],
  judge: () => unproven(reason),
});

class NotRecorded extends Error {
  override readonly name = "NotRecorded";
}

/** Calls `judge` without the evidence of the probes `names`. The finding is unproven if `judge` reads any of it. */
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

/** Makes CLI-10 unproven, because a recording does not contain the secret that signs requests. Keeps other checks. */
const withoutSecret = (original: Check): Check =>
  original.clause === "CLI-10"
    ? { ...original, on: {}, judge: () => unproven("the secret that signs the requests is not known") }
    : original;

export const recordedClientSuites: readonly Suite[] = suitesOfParty("client").map(({ title, checks }) => ({
  title,
  checks: checks.map(withoutSecret),
}));

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

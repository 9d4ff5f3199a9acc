import type { Evidence } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { line, UsageError } from "../../base/line.ts";
import type { ReportedRecording } from "../../report/model/report.ts";
import { type RecordedTraffic, reviewRecording } from "../../run/review-recording.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";
import type { Messages } from "../../run/skip-reason.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { recordedSuites, type RecordingContents } from "../../suites/recorded/recorded-suites.ts";
import { belowBaseUrl } from "../../target/base-url.ts";
import { defaultTargetTraits, type Target, type TargetKey } from "../../target/target.ts";
import { reportRun } from "../judge/run-and-report.ts";
import type { SavedRun } from "../report-folder/saved-report.ts";
import type { RunReportFacts } from "../report/run-report.ts";
import type { RunResult } from "../../run/run-result.ts";
import { unrecordedBody } from "./har-body.ts";
import {
  chooseBaseUrl,
  type MissingPart,
  missingPartTexts,
  type LeftOutReason,
  leftOutTexts,
  type Recording,
  type RecordedExchange,
  shiftExchange,
  countEach,
} from "./recording.ts";
import { nameKeys, redactKnownSecretFields } from "./key-names.ts";

export interface JudgeRecordingOptions {
  readonly file: string;
  /** Base URL of the server to judge. `null`: the base URL in the recording that fits the interface best. */
  readonly baseUrl: string | null;
  /** Tier of each key, by the key's name, e.g. `key-1`. The name `*` stands for all other keys. */
  readonly tiers: ReadonlyMap<string, string>;
  readonly keepsBodies: boolean;
  readonly requirements: RequirementSet;
  readonly messages: Messages;
  readonly tierName?: string;
}

export interface RecordingDescription extends Pick<ReportedRecording, "file" | "format" | "leftOut" | "gaps"> {
  readonly facts: RecordingContents;
  readonly counted?: number;
  /**
   * Breaches that the proxy found earlier in the same traffic, by check id. The recording can lack the exchanges that
   * prove these breaches.
   */
  readonly broken?: ReadonlyMap<string, Judgement>;
}

/** Judges recorded traffic by all checks that do not have to send requests. */
export async function judgeRecording(recording: Recording, options: JudgeRecordingOptions): Promise<SavedRun> {
  const { file, baseUrl: named } = options;
  const baseUrl = named ?? chooseBaseUrl(recording.exchanges, file);
  const isBelow = belowBaseUrl(baseUrl);
  const own = recording.exchanges.filter(({ exchange: { request } }) => isBelow(request.url));
  if (own.length === 0)
    throw new UsageError(line`${file} has no exchange with ${baseUrl}. Give another base URL, or none.`);
  const { exchanges, keys, areKnown } = nameKeys(own);
  const leftOut = new Map(recording.leftOut);
  const elsewhere = recording.exchanges.length - own.length;
  if (elsewhere > 0) leftOut.set("another server", elsewhere);
  const kept = exchanges.map(({ exchange }) => redactKnownSecretFields(exchange));
  return judgeTraffic(
    { ...relativeToStart(kept), target: recordedTarget(baseUrl, keys, options), samples: [], stopped: null },
    {
      ...recording,
      file,
      leftOut: leftOutRows(leftOut),
      gaps: gapRows(exchanges),
      facts: { ...recording.facts, keys: areKnown },
    },
    options,
  );
}

export async function judgeTraffic(
  traffic: RecordedTraffic,
  description: RecordingDescription,
  options: Omit<RecordingReportOptions, "party">,
): Promise<SavedRun> {
  const { facts, broken } = description;
  const reviewed = await reviewRecording(traffic, recordedSuites(facts));
  const judgements = reviewed.judgements.map((each) =>
    each.finding.kind === "breach" ? each : (broken?.get(each.check.id) ?? each),
  );
  return reportOnRecording({ ...reviewed, judgements }, traffic, description, options);
}

type RecordingReportOptions = Pick<JudgeRecordingOptions, "requirements" | "messages" | "keepsBodies"> &
  Pick<RunReportFacts, "party">;

export function reportOnRecording(
  result: RunResult,
  traffic: RecordedTraffic,
  description: RecordingDescription,
  { keepsBodies, ...options }: RecordingReportOptions,
): SavedRun {
  const { startedUnixMs, durationMs } = traffic;
  const { requirements, messages, party } = options;
  const started = new Date(startedUnixMs);
  const finished = new Date(startedUnixMs + durationMs);
  const facts = { requirements, messages, ...(party && { party }), started, finished };
  const { report, evidence } = reportRun(result, facts, traffic);
  return {
    // `created` stays empty. It lists what the harness created, but other programs sent the recorded requests.
    report: { ...report, created: [], recording: describeRecording(traffic, description) },
    evidence: keepsBodies ? evidence : withoutBodies(evidence),
  };
}

const describeRecording = (
  { exchanges, target: { keys } }: RecordedTraffic,
  { file, format, leftOut, gaps, facts, counted = 0 }: RecordingDescription,
): ReportedRecording => ({
  file,
  format,
  exchanges: exchanges.length,
  ...(counted === 0 ? {} : { counted }),
  keys: Object.keys(keys).length,
  leftOut,
  gaps,
  shows: facts,
});

export const leftOutRows = (counts: ReadonlyMap<LeftOutReason, number>): RecordingDescription["leftOut"] =>
  [...counts].map(([reason, exchanges]) => ({ why: leftOutTexts[reason], exchanges }));

const gapRows = (exchanges: readonly RecordedExchange[]): RecordingDescription["gaps"] =>
  [...countEach<MissingPart>(exchanges.flatMap(({ gaps }) => gaps))].map(([gap, count]) => ({
    what: missingPartTexts[gap],
    count,
  }));

export function recordedTarget(
  baseUrl: string,
  keys: Readonly<Record<string, TargetKey>>,
  { tiers, tierName = "--tier" }: Pick<JudgeRecordingOptions, "tiers" | "tierName">,
): Target {
  const unknown = [...tiers.keys()].find((name) => name !== "*" && keys[name] === undefined);
  if (unknown !== undefined)
    throw new UsageError(
      line`${tierName} names the key ${JSON.stringify(unknown)}; the recording has ${Object.keys(keys).join(", ") || "no key"}.`,
    );
  const withTier = Object.entries(keys).map(([name, key]): [string, TargetKey] => [
    name,
    { ...key, tier: tiers.get(name) ?? tiers.get("*") ?? null },
  ]);
  return {
    ...defaultTargetTraits,
    name: new URL(baseUrl).host,
    baseUrl,
    keys: Object.fromEntries(withTier),
  };
}

/** Makes times relative to the first request. An exchange without recorded times (`sentMs` 0) stays unchanged. */
function relativeToStart(
  exchanges: readonly Exchange[],
): Pick<RecordedTraffic, "exchanges" | "startedUnixMs" | "durationMs"> {
  const timed = exchanges.filter(({ sentMs }) => sentMs > 0);
  const startedUnixMs = timed.reduce((first, { sentMs }) => Math.min(first, sentMs), Infinity);
  const startMs = Number.isFinite(startedUnixMs) ? startedUnixMs : 0;
  const shifted = exchanges.map((each) => (each.sentMs > 0 ? shiftExchange(each, -startMs) : each));
  const endMs = timed.reduce((last, { answer }) => Math.max(last, answer.endMs), startMs);
  return { exchanges: shifted, startedUnixMs: startMs, durationMs: endMs - startMs };
}

/** Removes the bodies of all exchanges from evidence. Also removes all probe results, because they contain bodies. */
function withoutBodies({ exchanges, deliveries, probes }: Evidence): Evidence {
  return {
    deliveries,
    exchanges: exchanges.map(withoutBody),
    probes: probes.map(({ probe, instance }) => ({
      probe,
      instance,
      result: { kind: "skipped", reason: "bodies were not kept", needs: null },
    })),
  };
}

function withoutBody(exchange: Exchange): Exchange {
  const { request, answer } = exchange;
  const emptied = (body: Exchange["request"]["body"]): Exchange["request"]["body"] =>
    body.kind === "none" ? body : unrecordedBody(body.bytes);
  return {
    ...exchange,
    request: { ...request, body: emptied(request.body) },
    answer:
      answer.kind === "answered"
        ? {
            ...answer,
            body: emptied(answer.body),
            events: answer.events.map(({ name, atMs }) => ({ name, data: "", atMs })),
          }
        : answer,
  };
}

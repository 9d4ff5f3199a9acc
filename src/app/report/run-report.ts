import { sinceField } from "../../report/model/requirements.ts";
import type { RequirementSet } from "../../spec/requirements.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Party } from "../../spec/clause.ts";
import { clauseOf } from "../../spec/clauses.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";
import type { Messages } from "../../run/skip-reason.ts";
import type { RunResult } from "../../run/run-result.ts";
import type { Coverage } from "../../run/judge/coverage.ts";
import {
  type Report,
  type ReportedConnection,
  type ReportFinding,
  type StatedFacts,
  statedFactsOf,
  type CreatedResource,
} from "../../report/model/report.ts";
import { shellVariableOfKey } from "../../report/reproduce/curl.ts";
import { streamingOf } from "../../report/model/streaming.ts";
import { type RunEnd, runEndFromReason } from "../../report/model/verdict.ts";
import { cornersRequested, type PairCoverage } from "../../suites/coverage/probe.ts";
import { assembleReport, findingDetails, shortHash, tiersOfKeys, type FindingWithTexts } from "./assemble-report.ts";
import { withoutMissingProfiles, untriedPairs, withUntriedPairFindings } from "./findings.ts";
import { type Network, proxyFor, proxyOrigin } from "../../base/network/network.ts";
import { isObject, getPath } from "../../base/json.ts";
import { parseBoundedJson } from "../../base/bounded-json.ts";

/** Facts about a run that its report needs in addition to the run's result. */
export interface RunReportInput extends StatedFacts {
  readonly version: string;
  /** The party that is judged, such as a server or a client. Default: the server. */
  readonly party?: Party;
  readonly requirements: RequirementSet;
  readonly started: Date;
  readonly finished: Date;
  /** Ids of must clauses whose checks the user left out by `--only` or `--skip`. */
  readonly unselected: readonly string[];
  /** For each role, a text that names its agent, and the query that makes the agent play that role. */
  readonly roles: Readonly<Record<string, string>>;
  readonly messages: Messages;
}

/** Assembles the report of a run from the run's result. It still contains the secrets that occur in findings. */
export function assembleRunReport(result: RunResult, input: RunReportInput): Report {
  const { version, party, requirements, started, finished, unselected, selection, roles, messages } = input;
  const { target, durationMs, requests, executions, lost, away, waitedMs, judgements, exchanges } = result;
  const { name, baseUrl, keys, network } = target;
  const coverage = pairCoverageOf(result);
  const unseen = untriedPairs(coverage, selection);
  const streaming = party === undefined || party === "server" ? streamingOf(exchanges) : [];
  return assembleReport({
    judging: {
      version,
      ...(party && { party }),
      requirements,
      end: endOfRun(result, messages),
      unselected,
      load: null,
    },
    target: {
      name,
      baseUrl,
      fingerprint: fingerprintOf(result),
      tiers: tiersOfKeys(keys),
      roles,
      ...keyVariables(keys),
      ...(target.offers === null ? {} : { offers: target.offers }),
      ...connectionOf(network, baseUrl),
    },
    started,
    finished,
    durationMs,
    requests,
    ...(party === undefined || party === "server" ? { executions } : {}),
    lost,
    ...(away === null ? {} : { away }),
    waitedMs,
    findings: withoutMissingProfiles(
      withUntriedPairFindings(
        judgements.map((each) => findingRowOf(each, messages)),
        unseen,
      ),
      { offers: target.offers, selected: selection?.profiles ?? null, exchanges, batchPath: target.paths.batch },
    ),
    ...(streaming.length === 0 ? {} : { streaming }),
    ...(coverage === null ? {} : { pairs: reportedPairs(coverage, unseen, messages) }),
    created: party === undefined || party === "server" ? createdResources(exchanges, started) : [],
    ...statedFactsOf(input),
  });
}

/**
 * Returns the environment variables of those keys whose variable does not follow from the key's name. Commands in the
 * report contain them.
 */
function keyVariables(keys: RunResult["target"]["keys"]): Pick<Report["target"], "variables"> {
  const named = Object.values(keys).filter(({ name, variable }) => variable !== shellVariableOfKey(name));
  return named.length === 0
    ? {}
    : { variables: Object.fromEntries(named.map(({ name, variable }) => [name, variable])) };
}

/** Returns which pairs of request properties the run tried; `null` if the run did not record that. */
function pairCoverageOf({ runs }: RunResult): PairCoverage | null {
  const result = runs.find(({ planned }) => planned.probe === cornersRequested)?.result;
  return result?.kind === "ran" ? (result.evidence as PairCoverage) : null;
}

/**
 * Returns the report's field `pairs`: which pairs of request properties the run tried. Empty if the run did not record
 * that.
 */
function reportedPairs(
  { coveredCount, total, cut, triples, seed, seen }: PairCoverage,
  unseen: readonly string[],
  { needs }: Messages,
): NonNullable<Report["pairs"]> {
  const inWords = (cuts: typeof cut) => cuts.map((each) => ({ needs: needs(each.needs), pairs: each.pairs }));
  return {
    covered: coveredCount,
    reachable: coveredCount + unseen.length,
    total,
    cut: inWords(cut),
    unseen,
    ...(triples === undefined ? {} : { triples: { ...triples, cut: inWords(triples.cut) } }),
    ...(seed === undefined ? {} : { seed }),
    ...(seen === undefined ? {} : { seen }),
  };
}

function endOfRun(result: RunResult, { reason }: Messages): RunEnd {
  if (result.kind === "judged") return runEndFromReason(result.stopped);
  return { kind: result.why, why: reason(result.sentence) };
}

/** Converts the judgement of a check into a finding of the report. */
export function findingRowOf(
  { check, suite, instance, finding, exchanges }: Judgement,
  messages: Messages,
): ReportFinding {
  const { level } = clauseOf(check.clause);
  return {
    check: check.id,
    clause: check.clause,
    suite,
    level,
    ...sinceField(check.since),
    ...(instance === null ? {} : { instance }),
    ...findingDetails(wordedFinding(finding, messages), level),
    ...("seen" in finding && finding.seen !== undefined ? { seen: wordedCoverage(finding.seen, messages) } : {}),
    ...(exchanges.length === 0 ? {} : { evidence: exchanges }),
  };
}

const wordedFinding = (finding: Judgement["finding"], { reason, needs }: Messages): FindingWithTexts =>
  finding.kind === "unproven"
    ? { ...finding, reason: reason(finding.reason), needs: finding.needs === null ? null : needs(finding.needs) }
    : finding;

const wordedCoverage = ({ unseen, ...seen }: Coverage, { needs }: Messages): NonNullable<ReportFinding["seen"]> => ({
  ...seen,
  unseen: unseen.map(({ of, kind, reach }) => ({ of, kind, ...(reach === null ? {} : { needs: needs(reach) }) })),
});

function fingerprintOf({ target, exchanges }: RunResult): string {
  const server = exchanges.map(serverHeader).find((value) => value !== null) ?? "";
  return shortHash(JSON.stringify([target.baseUrl, server]));
}

function serverHeader({ answer }: Exchange): string | null {
  if (answer.kind !== "answered") return null;
  return answer.headers.find(([name]) => name.toLowerCase() === "server")?.[1] ?? null;
}

/**
 * Returns the report's field `way`: the proxy and the certificates that the run used for the target. Empty if it used
 * neither.
 */
export function connectionOf(network: Network, baseUrl: string): { readonly way?: ReportedConnection } {
  const proxy = proxyFor(network, baseUrl);
  const { ca, cert, key } = network.files;
  if (proxy === null && ca === null && cert === null) return {};
  return {
    way: {
      ...(proxy === null ? {} : { proxy: { url: proxyOrigin(proxy), asksWho: new URL(proxy).password !== "" } }),
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
    },
  };
}

/**
 * Lists the webhooks, alerts and operations that POST requests of a run created (their status was 2xx), in the order of
 * the exchanges.
 *
 * @param started start of the run, to which the times of exchanges are relative
 */
export function createdResources(exchanges: readonly Exchange[], started: Date): CreatedResource[] {
  return exchanges.flatMap(({ id, key, request, answer }): CreatedResource[] => {
    if (request.method !== "POST" || answer.kind !== "answered") return [];
    if (answer.status < 200 || answer.status > 299) return [];
    const resource = resourceOf(request.url, answer.body.kind === "text" ? answer.body.text : "");
    if (resource === null) return [];
    return [{ ...resource, key, at: new Date(started.getTime() + answer.endMs).toISOString(), exchange: id }];
  });
}

function resourceOf(url: string, text: string): Pick<CreatedResource, "kind" | "id"> | null {
  const records = candidateObjects(text);
  const path = url.replace(/[?#].*/, "").replace(/\/+$/, "");
  if (path.endsWith("/webhooks")) return { kind: "webhook", id: firstFieldValue(records, ["webhook_id", "id"]) };
  if (path.endsWith("/alerts")) return { kind: "alert", id: firstFieldValue(records, ["alert_id", "id"]) };
  const operation = firstFieldValue(records, ["operation_id"]);
  return operation === null ? null : { kind: "operation", id: operation };
}

type JsonFields = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON objects in a response body that may describe the created resource: the body itself, and nested
 * objects such as `data`. The document does not say which it is.
 */
function candidateObjects(text: string): JsonFields[] {
  const records: JsonFields[] = [];
  let inner = parseBoundedJson(text);
  for (let depth = 0; depth < maxEnvelopeDepth && isObject(inner); depth++) {
    records.push(inner);
    inner = ["data", "result", "webhook", "alert", "operation"].map((name) => getPath(inner, name)).find(isObject);
  }
  return records;
}

const maxEnvelopeDepth = 4;

/** Returns the value of the first of these field names that occurs in any of the objects; `null` if none does. */
const firstFieldValue = (records: readonly JsonFields[], names: readonly string[]): string | null =>
  names.flatMap((name) => records.flatMap((record) => idTexts(getPath(record, name))))[0] ?? null;

const idTexts = (value: unknown): string[] =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? [String(value)] : [];

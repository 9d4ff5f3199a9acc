import type { Party, RequirementSet } from "../../spec/clause.ts";
import { type Exchange, headerValues } from "../../evidence/exchange.ts";
import type { Messages } from "../../run/skip-reason.ts";
import type { RunResult } from "../../run/run-result.ts";
import {
  type Report,
  type ReportedConnection,
  type StatedFacts,
  statedFactsOf,
  type CreatedResource,
} from "../../report/model/report.ts";
import { shellVariableOfKey } from "../../report/reproduce/curl.ts";
import { streamingOf } from "../../report/model/streaming.ts";
import { type RunEnd, runEndFromReason } from "../../report/model/verdict.ts";
import { pairRequestsSent, type PairCoverage } from "../../suites/coverage/probe.ts";
import { assembleReport, shortHash, tiersOfKeys } from "./assemble-report.ts";
import { reportedFindings, untriedPairs } from "./findings.ts";
import { getPath, isObject, withoutUndefined } from "../../base/json.ts";
import { describeRoles } from "../../target/target.ts";
import { type Network, proxyFor, proxyOrigin } from "../../base/network/network.ts";
import { is2xx } from "../../base/http.ts";
import { parseBoundedJson } from "../../base/parsing.ts";

export interface RunReportFacts extends StatedFacts {
  readonly party?: Party;
  readonly requirements: RequirementSet;
  readonly started: Date;
  readonly finished?: Date;
  readonly unselected?: readonly string[];
  readonly messages: Messages;
}

export function assembleRunReport(result: RunResult, facts: RunReportFacts): Report {
  const { party, requirements, started, finished = new Date(), unselected = [], selection, messages } = facts;
  const { target, durationMs, requests, executions, lost, away, waitedMs, exchanges } = result;
  const isServer = party === undefined || party === "server";
  const coverage = pairCoverageOf(result);
  const streaming = isServer ? streamingOf(exchanges) : [];
  return assembleReport({
    judging: { ...(party && { party }), requirements, end: endOfRun(result, messages), unselected, load: null },
    target: describeTarget(result),
    started,
    finished,
    durationMs,
    requests,
    executions: isServer ? executions : undefined,
    lost,
    away: away ?? undefined,
    waitedMs,
    findings: reportedFindings(result.judgements, messages, {
      coverage,
      selection,
      offers: target.offers,
      exchanges,
      batchPath: target.paths.batch,
    }),
    streaming: streaming.length === 0 ? undefined : streaming,
    pairs: coverage === null ? undefined : reportedPairs(coverage, untriedPairs(coverage, selection), messages),
    created: isServer ? createdResources(exchanges, started) : [],
    ...statedFactsOf(facts),
  });
}

function describeTarget({ target, exchanges }: RunResult): Report["target"] {
  const { name, baseUrl, keys, offers, network } = target;
  // Omits environment variables whose name can be derived from the key's name.
  const named = Object.values(keys).filter((key) => key.variable !== shellVariableOfKey(key.name));
  const server = exchanges.flatMap((each) => headerValues(each, "server"))[0] ?? "";
  return withoutUndefined({
    name,
    baseUrl,
    fingerprint: shortHash(JSON.stringify([baseUrl, server])),
    tiers: tiersOfKeys(keys),
    roles: describeRoles(target),
    variables: named.length === 0 ? undefined : Object.fromEntries(named.map((key) => [key.name, key.variable])),
    offers: offers ?? undefined,
    ...connectionOf(network, baseUrl),
  });
}

function pairCoverageOf({ runs }: RunResult): PairCoverage | null {
  const result = runs.find(({ planned }) => planned.probe === pairRequestsSent)?.result;
  return result?.kind === "ran" ? (result.evidence as PairCoverage) : null;
}

function reportedPairs(
  { coveredCount, total, cut, triples, seed, seen }: PairCoverage,
  unseen: readonly string[],
  { needs }: Messages,
): NonNullable<Report["pairs"]> {
  const inWords = (cuts: typeof cut) => cuts.map((each) => ({ needs: needs(each.needs), pairs: each.pairs }));
  return withoutUndefined({
    covered: coveredCount,
    reachable: coveredCount + unseen.length,
    total,
    cut: inWords(cut),
    unseen,
    triples: triples && { ...triples, cut: inWords(triples.cut) },
    seed,
    seen,
  });
}

function endOfRun(result: RunResult, { reason }: Messages): RunEnd {
  if (result.kind === "judged") return runEndFromReason(result.stopped);
  return { kind: result.why, why: reason(result.sentence) };
}

function connectionOf(network: Network, baseUrl: string): { readonly way?: ReportedConnection } {
  const proxy = proxyFor(network, baseUrl);
  const { ca, cert, key } = network.files;
  if (proxy === null && ca === null && cert === null) return {};
  return {
    way: withoutUndefined({
      proxy: proxy === null ? undefined : { url: proxyOrigin(proxy), asksWho: new URL(proxy).password !== "" },
      ca: ca ?? undefined,
      cert: cert ?? undefined,
      key: key ?? undefined,
    }),
  };
}

export function createdResources(exchanges: readonly Exchange[], started: Date): CreatedResource[] {
  return exchanges.flatMap(({ id, key, request, answer }): CreatedResource[] => {
    if (request.method !== "POST" || answer.kind !== "answered" || !is2xx(answer.status)) return [];
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

const firstFieldValue = (records: readonly JsonFields[], names: readonly string[]): string | null =>
  names.flatMap((name) => records.flatMap((record) => idTexts(getPath(record, name))))[0] ?? null;

const idTexts = (value: unknown): string[] =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? [String(value)] : [];

import type { Exchange } from "../../evidence/exchange.ts";
import { isObject, tryParseJson, getPath } from "../../base/json.ts";
import { endpointCalled, type EndpointName } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import { type AllSamples, allSamples } from "../../suites/headers/probes.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { hasValidKey } from "../../suites/shared/all-exchanges.ts";
import type { CleanRun } from "./mutant.ts";
import { type AnsweredExchange, headerOf, isAnswered } from "./edits.ts";

/** A response that mutants change. It represents all responses of its kind in the run. */
export interface MutationSite {
  readonly run: CleanRun;
  readonly exchange: AnsweredExchange;
  /** The endpoint of the request; `null` if the document does not define the path or the method. */
  readonly endpoint: EndpointName | null;
  readonly status: number;
  readonly hasValidKey: boolean;
  /** Name in reports, such as `invoke 200`, with a property that tells similar responses apart. */
  readonly name: string;
}

/** Groups the responses by `similarityKey`. Returns the first response of each group. */
export function mutationSites(run: CleanRun): MutationSite[] {
  const found = new Map<string, MutationSite>();
  for (const exchange of run.exchanges.filter(isAnswered)) {
    const site = siteOf(run, exchange);
    const cell = similarityKey(site);
    if (!found.has(cell)) found.set(cell, site);
  }
  return [...found.values()];
}

const similarityKey = (site: MutationSite): string =>
  [site.name, agentIn(site.exchange), kindOfKey(site), shapeOf(site.exchange), stateOf(site.exchange, site.run)].join(
    " / ",
  );

export const representativeIds = (run: CleanRun): ReadonlySet<string> =>
  new Set([
    ...mutationSites(run).map(({ exchange }) => exchange.id),
    ...run.exchanges.filter((exchange) => !isAnswered(exchange)).map(({ id }) => id),
  ]);

function siteOf(run: CleanRun, exchange: AnsweredExchange): MutationSite {
  const { method, url } = exchange.request;
  const endpoint = endpointCalled(method, url, run.paths)?.endpoint ?? null;
  const { status } = exchange.answer;
  const trait =
    traitOf(exchange, endpoint) ?? (idsWhileAdvanced(run).has(exchange.id) ? "while the clock was advanced" : null);
  const name = `${endpoint ?? "other paths"} ${status}${trait === null ? "" : `, ${trait}`}`;
  return { run, exchange, endpoint, status, hasValidKey: hasValidKey(exchange, run), name };
}

const idsWhileAdvanced = memoizeByObject(
  ({ results }: CleanRun): ReadonlySet<string> =>
    new Set(
      (results.get(allSamples.name) ?? [])
        .flatMap(({ result }) => (result.kind === "ran" ? (result.evidence as AllSamples).keys : []))
        .flatMap(({ samples }) => samples)
        .filter(({ sentClockMs, headClockMs }) => sentClockMs !== headClockMs)
        .map(({ id }) => id),
    ),
);

function traitOf(
  { key, request: { url, method, body, headers }, answer }: AnsweredExchange,
  endpoint: EndpointName | null,
): string | null {
  if (key === null) return "without a key of the target";
  const isDeclared = headerOf(headers, "Content-Type")?.startsWith("application/json") === true;
  const isObjectOrNone =
    (body.kind === "none" && method !== "POST") ||
    (body.kind === "text" && isDeclared && isObject(tryParseJson(body.text)));
  if (!isObjectOrNone) return "asked with a body that is no JSON object";
  return endpoint === "list" && isOutsidePages(url, answer.body) ? "outside the pages" : null;
}

function isOutsidePages(url: string, body: AnsweredExchange["answer"]["body"]): boolean {
  const { searchParams } = new URL(url);
  const [, pages] = /"pages":\s*(\d+)/.exec(body.kind === "text" ? body.text : "") ?? [];
  return searchParams.get("limit") === "0" || Number(searchParams.get("page")) > Number(pages);
}

const agentIn = ({ request: { url } }: Exchange): string => /\/agents\/([^/?]+)/.exec(url)?.[1] ?? "";

const kindOfKey = ({ exchange: { key }, ...site }: MutationSite): string =>
  key === null ? "without a key" : site.hasValidKey ? "a good key" : key;

function shapeOf({ request: { url, body } }: Exchange): string {
  const sent = body.kind === "text" ? tryParseJson(body.text) : undefined;
  const names = (value: unknown): string[] => (isObject(value) ? Object.keys(value).toSorted() : []);
  const queried = [...new URLSearchParams(/\?(.*)$/s.exec(url)?.[1] ?? "")].map(([name, value]) => `${name}=${value}`);
  return [...queried, ...names(sent), ...names(getPath(sent, "parameters"))].join(",");
}

function stateOf(exchange: AnsweredExchange, { exchanges }: CleanRun): string {
  if (headerOf(exchange.answer.headers, headerNames.rateRemaining) === "0") return "used up";
  const isConcurrent = (other: Exchange): boolean =>
    other !== exchange &&
    other.key === exchange.key &&
    other.sentMs < exchange.answer.endMs &&
    other.answer.endMs > exchange.sentMs;
  return exchanges.some(isConcurrent) ? "beside others" : "alone";
}

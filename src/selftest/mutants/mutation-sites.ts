import type { Exchange } from "../../evidence/exchange.ts";
import { isObject, tryParseJson, getPath } from "../../base/json.ts";
import { endpointCalled, type EndpointName } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import { hasValidKey } from "../../suites/shared/all-exchanges.ts";
import type { CleanRun } from "./clean-run.ts";
import { type AnsweredExchange, headerOf, isAnswered } from "./edits.ts";

/** An answer that mutants are made of, and what it stands for. */
export interface MutationSite {
  readonly run: CleanRun;
  readonly exchange: AnsweredExchange;
  /** `null` for a path or a method that the document does not define. */
  readonly endpoint: EndpointName | null;
  readonly status: number;
  readonly hasValidKey: boolean;
  /** What reports call it: `invoke 200`, and what sets it apart from others of that name. */
  readonly name: string;
}

/** The first answer of each endpoint, status, kind of key, agent, shape of request and state of its key's allowance. */
export function mutationSites(run: CleanRun): MutationSite[] {
  const found = new Map<string, MutationSite>();
  for (const exchange of run.exchanges.filter(isAnswered)) {
    const place = placeOf(run, exchange);
    const cell = cellOf(place);
    if (!found.has(cell)) found.set(cell, place);
  }
  return [...found.values()];
}

const cellOf = (place: MutationSite): string =>
  [
    place.name,
    agentIn(place.exchange),
    kindOfKey(place),
    shapeOf(place.exchange),
    stateOf(place.exchange, place.run),
  ].join(" / ");

/** So many answers of each cell stand for all of them where a check looks over the whole run. */
const mostOfACell = 1;

/** Ids of the answers that stand for all that the run saw. */
export function representativeIds(run: CleanRun): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const kept = run.exchanges.filter((exchange) => {
    if (!isAnswered(exchange)) return true;
    const cell = cellOf(placeOf(run, exchange));
    const count = (counts.get(cell) ?? 0) + 1;
    counts.set(cell, count);
    return count <= mostOfACell;
  });
  return new Set(kept.map(({ id }) => id));
}

function placeOf(run: CleanRun, exchange: AnsweredExchange): MutationSite {
  const { method, url } = exchange.request;
  const endpoint = endpointCalled(method, url, run.paths)?.endpoint ?? null;
  const { status } = exchange.answer;
  const trait = traitOf(exchange, endpoint);
  const name = `${endpoint ?? "other paths"} ${status}${trait === null ? "" : `, ${trait}`}`;
  return { run, exchange, endpoint, status, hasValidKey: hasValidKey(exchange, run), name };
}

/** What sets an answer apart from the others of its endpoint and status; `null` where nothing does. */
function traitOf(
  { key, request: { url, body, headers } }: AnsweredExchange,
  endpoint: EndpointName | null,
): string | null {
  if (key === null) return "without a key of the target";
  const isDeclared = headerOf(headers, "Content-Type")?.startsWith("application/json") === true;
  const isJson = body.kind === "none" || (body.kind === "text" && isDeclared && tryParseJson(body.text) !== undefined);
  if (!isJson) return "asked with a body that is not JSON";
  return endpoint === "list" && /limit=0|page=99999/.test(url) ? "outside the pages" : null;
}

const agentIn = ({ request: { url } }: Exchange): string => /\/agents\/([^/?]+)/.exec(url)?.[1] ?? "";

const kindOfKey = ({ exchange: { key }, ...place }: MutationSite): string =>
  key === null ? "without a key" : place.hasValidKey ? "a good key" : key;

/** Names of a request's parameters: a query's and those of a body, and of an object `parameters` within it. */
function shapeOf({ request: { url, body } }: Exchange): string {
  const sent = body.kind === "text" ? tryParseJson(body.text) : undefined;
  const names = (value: unknown): string[] => (isObject(value) ? Object.keys(value).toSorted() : []);
  const queried = [...new URLSearchParams(/\?(.*)$/s.exec(url)?.[1] ?? "")].map(([name, value]) => `${name}=${value}`);
  return [...queried, ...names(sent), ...names(getPath(sent, "parameters"))].join(",");
}

/** Whether the allowance was used up, or other requests of the key were under way. */
function stateOf(exchange: AnsweredExchange, { exchanges }: CleanRun): string {
  if (headerOf(exchange.answer.headers, headerNames.rateRemaining) === "0") return "used up";
  const isBeside = (other: Exchange): boolean =>
    other !== exchange &&
    other.key === exchange.key &&
    other.sentMs < exchange.answer.endMs &&
    other.answer.endMs > exchange.sentMs;
  return exchanges.some(isBeside) ? "beside others" : "alone";
}

import { getPath, isObject, tryParseJson } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import {
  endpointOfRequest,
  type EndpointName,
  type PublishedEndpoint,
  publishedEndpoints,
} from "../../spec/endpoints.ts";
import { errorStatuses } from "../../spec/events-and-errors.ts";
import { type FieldTable, type FieldTableName, fieldTableNames, fieldTableOf } from "../../spec/fields.ts";
import {
  type AnsweredExchange,
  headerOf,
  isAnswered,
  type JsonPath,
  type JsonStyle,
  jsonText,
  valueAt,
  withEvents,
  withJson,
} from "./edits.ts";
import { type CleanRun, type Replacement, replacingDeliveries, replacingExchanges } from "./mutant.ts";
import { headerNames } from "../../spec/headers.ts";
import { type AllSamples, allSamples } from "../../suites/headers/probes.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { hasValidKey } from "../../suites/shared/all-exchanges.ts";

/** A response that mutants change. The response represents all similar responses of the run. */
export interface MutationSite {
  readonly run: CleanRun;
  readonly exchange: AnsweredExchange;
  /** The endpoint of the request; `null` if the document does not define the path or the method. */
  readonly endpoint: EndpointName | null;
  readonly status: number;
  readonly hasValidKey: boolean;
  /** Name in reports, such as `invoke 200`, or `list 200, outside the pages` for a page past the last. */
  readonly name: string;
}

/** Returns the first response of each group of responses with the same `similarityKey`. */
export function mutationSites(run: CleanRun): MutationSite[] {
  const found = new Map<string, MutationSite>();
  for (const exchange of run.exchanges.filter(isAnswered)) {
    const site = siteOf(run, exchange);
    const key = similarityKey(site);
    if (!found.has(key)) found.set(key, site);
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
  const endpoint = endpointOfRequest(method, url, run.paths)?.endpoint ?? null;
  const { status } = exchange.answer;
  const specialCase =
    specialCaseOf(exchange, endpoint) ??
    (idsWhileAdvanced(run).has(exchange.id) ? "while the clock was advanced" : null);
  const name = `${endpoint ?? "other paths"} ${status}${specialCase === null ? "" : `, ${specialCase}`}`;
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

function specialCaseOf(
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

export interface MutableMessage {
  /** Kind of message, such as `invoke 200`. */
  readonly place: string;
  readonly id: string;
  /**
   * Tables of src/spec/fields.ts that describe `value` or a part of `value`. `steps` is the path to the described part.
   */
  readonly tables: readonly { readonly name: FieldTableName; readonly steps: JsonPath }[];
  readonly value: unknown;
  /** Time from the request to the end of the response, in milliseconds; `null` for a delivery. */
  readonly tookMs: number | null;
  readonly with: (value: unknown, style?: JsonStyle) => Replacement;
}

export function bodyMessage(site: MutationSite): MutableMessage | null {
  const { exchange, name } = site;
  const value = bodyJson(exchange);
  if (!isObject(value)) return null;
  return {
    place: name,
    id: exchange.id,
    tables: fieldTableNames.flatMap((table) => {
      const steps = tablePathIn(table, site, value);
      return steps === null ? [] : [{ name: table, steps }];
    }),
    value,
    tookMs: tookMs(exchange),
    with: (other, style) => replacingExchanges(withJson(exchange, other, style)),
  };
}

const tookMs = ({ answer, sentMs }: AnsweredExchange): number => answer.endMs - sentMs;

function tablePathIn(table: FieldTableName, { endpoint, status }: MutationSite, body: unknown): JsonPath | null {
  const { message, fields }: FieldTable = fieldTableOf(table);
  if (fields === null) return null;
  const names = fields.map(({ path }) => path.split(/[.[]/)[0] ?? "");
  if (message.kind === "answer")
    return message.endpoint === endpoint && message.statuses.includes(status) ? fieldsRootOf(body, names) : null;
  if (message.kind === "error") {
    const isCovered = endpoint !== null && errorStatuses.includes(status) && [null, status].includes(message.status);
    return isCovered && isOfForm(body, message.form) ? [] : null;
  }
  if (message.kind !== "anywhere") return null;
  if (table === "operation") return endpoint === "batch" && status < 300 ? fieldsRootOf(body, names) : null;
  if (table === "webhookMetrics") return getPath(body, "total_deliveries") === undefined ? null : [];
  // Accepts only endpoints whose response the document specifies. Other responses can contain `data.metadata` by
  // chance.
  const published: PublishedEndpoint | null = endpoint === null ? null : publishedEndpoints[endpoint];
  const isSpecified = published !== null && !published.unspecified.includes("answer");
  return isSpecified && getPath(body, "status") === "success" && isObject(getPath(body, "data", "metadata"))
    ? []
    : null;
}

const isOfForm = (body: unknown, form: "form-a" | "form-b"): boolean =>
  form === "form-b" ? getPath(body, "status") === "error" : getPath(body, "error", "status") !== undefined;

function fieldsRootOf(body: unknown, names: readonly string[]): JsonPath {
  const candidates: readonly JsonPath[] = [[], ["data"], ["data", "result"]];
  const counted = candidates
    .filter((steps) => isObject(getPath(body, ...steps.map(String))) || steps.length === 0)
    .map((steps) => {
      const holder = valueAt(body, steps);
      return { steps, has: isObject(holder) ? names.filter((name) => Object.hasOwn(holder, name)).length : 0 };
    });
  return counted.toSorted((one, other) => other.has - one.has)[0]?.steps ?? [];
}

/** Returns the data of a stream's events as messages. Takes only the first and the last event of each name. */
export function eventMessages({ exchange, name }: MutationSite): MutableMessage[] {
  const { events } = exchange.answer;
  return events.flatMap((event, at) => {
    const isEdge =
      events.findIndex((each) => each.name === event.name) === at ||
      events.findLastIndex((each) => each.name === event.name) === at;
    const value = tryParseJson(event.data);
    const table = fieldTableNames.find((each) => {
      const { message } = fieldTableOf(each);
      return message.kind === "stream event" && message.event === event.name;
    });
    if (!isEdge || table === undefined || !isObject(value)) return [];
    return [
      {
        place: name,
        id: exchange.id,
        tables: [{ name: table, steps: [] }],
        value,
        tookMs: tookMs(exchange),
        with: (other: unknown, style?: JsonStyle) =>
          replacingExchanges(withEvents(exchange, events.with(at, { ...event, data: jsonText(other, style) }))),
      },
    ];
  });
}

export function deliveryMessage(delivery: Delivery): MutableMessage | null {
  const value = deliveryJson(delivery);
  const type = getPath(value, "type");
  if (!isObject(value)) return null;
  return {
    place: deliveryPlaceOf(delivery),
    id: delivery.id,
    tables: fieldTableNames.flatMap((name) => {
      const { message } = fieldTableOf(name);
      return message.kind === "delivery" && (message.type === null || message.type === type)
        ? [{ name, steps: [] }]
        : [];
    }),
    value,
    tookMs: null,
    with: (other, style) => replacingDeliveries(withDeliveryText(delivery, jsonText(other, style))),
  };
}

/** Returns the kind of a delivery. First attempts are a separate kind, because some senders ping a new webhook. */
export const deliveryPlaceOf = (delivery: Delivery): string =>
  `${delivery.attempt === 1 ? "first " : ""}deliveries of ${String(getPath(deliveryJson(delivery), "type"))}`;

/** Replaces a delivery's body. Keeps `computedSignature`, so that checks still accept the signature. */
export const withDeliveryText = (delivery: Delivery, text: string): Delivery => ({
  ...delivery,
  request: { ...delivery.request, body: { kind: "text", text, bytes: Buffer.byteLength(text) } },
});

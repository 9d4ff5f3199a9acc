import { isObject, tryParseJson, getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { type PublishedEndpoint, publishedEndpoints } from "../../spec/endpoints.ts";
import { errorStatuses } from "../../spec/errors.ts";
import { type FieldTable, type FieldTableName, fieldTableNames, fieldTableOf } from "../../spec/fields.ts";
import {
  type AnsweredExchange,
  type JsonPath,
  valueAt,
  withEvents,
  withJson,
  jsonText,
  type JsonStyle,
} from "./edits.ts";
import { replacingExchanges, replacingDeliveries, type Replacement } from "./mutant.ts";
import type { MutationSite } from "./mutation-sites.ts";

export interface MutableMessage {
  /** Kind of message, such as `invoke 200`. */
  readonly place: string;
  readonly id: string;
  /**
   * Tables of src/spec/fields.ts that describe the value or a part of it. `steps` is the path to the described part.
   */
  readonly tables: readonly { readonly name: FieldTableName; readonly steps: JsonPath }[];
  readonly value: unknown;
  /** How long the request took, in milliseconds of the harness's clock; `null` for a delivery. */
  readonly tookMs: number | null;
  readonly with: (value: unknown, style?: JsonStyle) => Replacement;
}

export function bodyMessage(place: MutationSite): MutableMessage | null {
  const { exchange, name } = place;
  const value = bodyJson(exchange);
  if (!isObject(value)) return null;
  return {
    place: name,
    id: exchange.id,
    tables: fieldTableNames.flatMap((table) => {
      const steps = tablePathIn(table, place, value);
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

/** Returns the data of a stream's events. Takes only the first and the last event of each name. */
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

/** Names the kind of a delivery. First attempts are a separate kind, because some senders send a ping first. */
export const deliveryPlaceOf = (delivery: Delivery): string =>
  `${delivery.attempt === 1 ? "first " : ""}deliveries of ${String(getPath(deliveryJson(delivery), "type"))}`;

/** Replaces a delivery's body. Keeps `computedSignature`, so that checks still accept the signature. */
export const withDeliveryText = (delivery: Delivery, text: string): Delivery => ({
  ...delivery,
  request: { ...delivery.request, body: { kind: "text", text, bytes: Buffer.byteLength(text) } },
});

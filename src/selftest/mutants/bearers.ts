import { isObject, jsonIn, member } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { type PublishedEndpoint, publishedEndpoints } from "../../interface/endpoints.ts";
import { errorStatuses } from "../../interface/errors.ts";
import { type FieldTable, type FieldTableName, fieldTableNames, fieldTableOf } from "../../interface/fields.ts";
import { type AnsweredExchange, type Steps, valueAt, withEvents, withJson } from "./edits.ts";
import { jsonText, type JsonStyle } from "./json-text.ts";
import { inPlaceOf, inPlaceOfDeliveries, type Replacement } from "./mutant.ts";
import type { Place } from "./places.ts";

/** A JSON value that a table of the document speaks of, and how to put another in its place. */
export interface FieldBearer {
  /** What reports call it. */
  readonly place: string;
  /** Id of the exchange or delivery. */
  readonly id: string;
  /** Every table that speaks of it, and where its own fields stand. */
  readonly tables: readonly { readonly name: FieldTableName; readonly steps: Steps }[];
  readonly value: unknown;
  /** How long the request took, in milliseconds of the harness's clock; `null` where that says nothing of it. */
  readonly tookMs: number | null;
  readonly with: (value: unknown, style?: JsonStyle) => Replacement;
}

/** The body of an answer; `null` where it is no JSON object. */
export function bodyBearer(place: Place): FieldBearer | null {
  const { exchange, name } = place;
  const value = bodyJson(exchange);
  if (!isObject(value)) return null;
  return {
    place: name,
    id: exchange.id,
    tables: fieldTableNames.flatMap((table) => {
      const steps = stepsTo(table, place, value);
      return steps === null ? [] : [{ name: table, steps }];
    }),
    value,
    tookMs: tookMs(exchange),
    with: (other, style) => inPlaceOf(withJson(exchange, other, style)),
  };
}

const tookMs = ({ answer, sentMs }: AnsweredExchange): number => answer.endMs - sentMs;

/** Where the fields of a table stand in a body; `null` where the table does not speak of it. */
function stepsTo(table: FieldTableName, { endpoint, status }: Place, body: unknown): Steps | null {
  const { of, fields }: FieldTable = fieldTableOf(table);
  if (fields === null) return null;
  const names = fields.map(({ path }) => path.split(/[.[]/)[0] ?? "");
  if (of.kind === "answer")
    return of.endpoint === endpoint && of.statuses.includes(status) ? rootOf(body, names) : null;
  if (of.kind === "error") {
    const isSpoken = endpoint !== null && errorStatuses.includes(status) && [null, status].includes(of.status);
    return isSpoken && isOfForm(body, of.form) ? [] : null;
  }
  if (of.kind !== "anywhere") return null;
  if (table === "operation") return endpoint === "batch" && status < 300 ? rootOf(body, names) : null;
  if (table === "webhookMetrics") return member(body, "total_deliveries") === undefined ? null : [];
  // Where no fields are shown, what looks like the envelope need not be it.
  const published: PublishedEndpoint | null = endpoint === null ? null : publishedEndpoints[endpoint];
  const isShown = published !== null && !published.notShown.includes("answer");
  return isShown && member(body, "status") === "success" && isObject(member(body, "data", "metadata")) ? [] : null;
}

const isOfForm = (body: unknown, form: "form-a" | "form-b"): boolean =>
  form === "form-b" ? member(body, "status") === "error" : member(body, "error", "status") !== undefined;

/** Where an endpoint's own fields stand: at the top, or within the envelope. */
function rootOf(body: unknown, names: readonly string[]): Steps {
  const candidates: readonly Steps[] = [[], ["data"], ["data", "result"]];
  const counted = candidates
    .filter((steps) => isObject(member(body, ...steps.map(String))) || steps.length === 0)
    .map((steps) => {
      const holder = valueAt(body, steps);
      return { steps, has: isObject(holder) ? names.filter((name) => Object.hasOwn(holder, name)).length : 0 };
    });
  return counted.toSorted((one, other) => other.has - one.has)[0]?.steps ?? [];
}

/** The data of each event of a stream: of those of one name, the first and the last. */
export function eventBearers({ exchange, name }: Place): FieldBearer[] {
  const { events } = exchange.answer;
  return events.flatMap((event, at) => {
    const isEdge =
      events.findIndex((each) => each.name === event.name) === at ||
      events.findLastIndex((each) => each.name === event.name) === at;
    const value = jsonIn(event.data);
    const table = fieldTableNames.find((each) => {
      const { of } = fieldTableOf(each);
      return of.kind === "stream event" && of.event === event.name;
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
          inPlaceOf(withEvents(exchange, events.with(at, { ...event, data: jsonText(other, style) }))),
      },
    ];
  });
}

/** The body of a delivery; `null` where it is no JSON object. */
export function deliveryBearer(delivery: Delivery): FieldBearer | null {
  const value = deliveryJson(delivery);
  const type = member(value, "type");
  if (!isObject(value)) return null;
  return {
    place: placeOf(delivery),
    id: delivery.id,
    tables: fieldTableNames.flatMap((name) => {
      const { of } = fieldTableOf(name);
      return of.kind === "delivery" && (of.type === null || of.type === type) ? [{ name, steps: [] }] : [];
    }),
    value,
    tookMs: null,
    with: (other, style) => inPlaceOfDeliveries(withDeliveryText(delivery, jsonText(other, style))),
  };
}

/** What reports call it: a sender may greet a new address with its first request, so that this one is told apart. */
export const placeOf = (delivery: Delivery): string =>
  `${delivery.attempt === 1 ? "first " : ""}deliveries of ${String(member(deliveryJson(delivery), "type"))}`;

/** Signed anew: what is wrong is the body, and not its signature. */
export const withDeliveryText = (delivery: Delivery, text: string): Delivery => ({
  ...delivery,
  request: { ...delivery.request, body: { kind: "text", text, bytes: Buffer.byteLength(text) } },
});

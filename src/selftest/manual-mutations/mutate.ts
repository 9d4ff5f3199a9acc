import { tryParseJson } from "../../base/json.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { type Exchange, type Header, bodyJson } from "../../evidence/exchange.ts";
import type { ProbeResults } from "../../run/judge/judge-evidence.ts";
import { endpointCalled } from "../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../spec/headers.ts";
import { type AnsweredExchange, answeredWith, isAnswered, withEvents, withJson, withText } from "../mutants/edits.ts";
import { replaceEvidence } from "../mutants/replacing.ts";

/**
 * Changes the evidence of a run as if the server did one thing differently. Each function returns its argument
 * unchanged if the difference does not affect it.
 */
export interface ManualMutation {
  readonly exchange?: (exchange: Exchange) => Exchange;
  readonly delivery?: (delivery: Delivery) => Delivery;
}

/** The evidence of a run. */
export interface Recorded {
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
}

/**
 * Returns the evidence as if the server had done one thing differently. The server need not run again, because checks
 * are pure functions. Requests stay the same, although probes might have sent others.
 */
export const mutatedResults = (
  { results, exchanges, deliveries }: Recorded,
  { exchange, delivery }: ManualMutation,
): ProbeResults =>
  replaceEvidence(results, new Set(results.keys()), {
    exchanges: changedBy(exchange, exchanges),
    deliveries: changedBy(delivery, deliveries),
  });

const changedBy = <T extends { readonly id: string }>(change: ((item: T) => T) | undefined, items: readonly T[]) =>
  new Map(change === undefined ? [] : items.map((each) => [each.id, change(each)]));

type Edit = (exchange: Exchange) => Exchange;
type EditJson = (value: unknown) => unknown;

const inAnswer =
  (change: (exchange: AnsweredExchange) => Exchange): Edit =>
  (exchange) =>
    isAnswered(exchange) ? change(exchange) : exchange;

/** Applies an edit only to exchanges that meet a condition. */
export const where =
  (isMeant: (exchange: Exchange) => boolean, ...edits: readonly Edit[]): Edit =>
  (exchange) =>
    isMeant(exchange) ? edits.reduce((edited, edit) => edit(edited), exchange) : exchange;

/** Edits the body of a response if it is JSON. */
export const body = (edit: EditJson): Edit =>
  inAnswer((exchange) => {
    const value = bodyJson(exchange);
    return value === undefined ? exchange : withJson(exchange, edit(value));
  });

/** Replaces the text of a body. */
export const text = (other: string): Edit => inAnswer((exchange) => withText(exchange, other));

export const status = (other: number): Edit => inAnswer((exchange) => answeredWith(exchange, { status: other }));

const headers = (edit: (headers: readonly Header[]) => Header[]): Edit =>
  inAnswer((exchange) => answeredWith(exchange, { headers: edit(exchange.answer.headers) }));

const isNamed = ([name]: Header, ...names: readonly string[]): boolean =>
  names.some((each) => each.toLowerCase() === name.toLowerCase());

export const declared = (type: string): Edit =>
  headers((all) => [...all.filter((each) => !isNamed(each, "Content-Type")), ["Content-Type", type]]);

/** Removes the four rate-limit headers. */
export const bare: Edit = headers((all) => all.filter((each) => !isNamed(each, ...rateLimitHeaders)));

/** Writes header names in lower case, and headers in reverse order. */
export const otherwiseHeaded: Edit = headers((all) =>
  all.map(([name, value]): Header => [name.toLowerCase(), value]).toReversed(),
);

/** Edits the data of a stream's events of one name. */
export const event = (name: string, edit: EditJson): Edit =>
  inAnswer((exchange) =>
    withEvents(
      exchange,
      exchange.answer.events.map((each) =>
        each.name === name ? { ...each, data: JSON.stringify(edit(tryParseJson(each.data))) } : each,
      ),
    ),
  );

export const endpoint = ({ request }: Exchange): string | null =>
  endpointCalled(request.method, request.url)?.endpoint ?? null;

export const statusIs =
  (...statuses: readonly number[]) =>
  (exchange: Exchange): boolean =>
    isAnswered(exchange) && statuses.includes(exchange.answer.status);

/**
 * Returns a test for responses of an endpoint with one of these statuses. Without statuses, any response of the
 * endpoint passes.
 */
export const answersOf =
  (name: string, ...statuses: readonly number[]) =>
  (exchange: Exchange): boolean =>
    endpoint(exchange) === name && (statuses.length === 0 || statusIs(...statuses)(exchange));

/** Returns a test for requests whose body contains a text. */
export const asks =
  (part: string) =>
  ({ request }: Exchange): boolean =>
    request.body.kind === "text" && request.body.text.includes(part);

/** Returns a test for requests whose URL contains a text. */
export const isFor =
  (part: string) =>
  ({ request }: Exchange): boolean =>
    request.url.includes(part);

export const both =
  (...conditions: readonly ((exchange: Exchange) => boolean)[]) =>
  (exchange: Exchange): boolean =>
    conditions.every((each) => each(exchange));

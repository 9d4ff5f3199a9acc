import { tryParseJson } from "../../base/json.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { type Exchange, type Header, bodyJson } from "../../evidence/exchange.ts";
import type { ProbeResults } from "../../run/judge/judge-evidence.ts";
import { endpointOfRequest } from "../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../spec/headers.ts";
import { type AnsweredExchange, withResponse, isAnswered, withEvents, withJson, withText } from "../mutants/edits.ts";
import { type CleanRun, replaceEvidence } from "../mutants/mutant.ts";

/** A change of recorded evidence, as if the server behaved differently in one respect. */
export interface ManualMutation {
  readonly exchange?: (exchange: Exchange) => Exchange;
  readonly delivery?: (delivery: Delivery) => Delivery;
}

export type RecordedRun = Pick<CleanRun, "results" | "exchanges" | "deliveries">;

export const mutatedResults = (
  { results, exchanges, deliveries }: RecordedRun,
  { exchange, delivery }: ManualMutation,
): ProbeResults =>
  replaceEvidence(results, new Set(results.keys()), {
    exchanges: replacementsBy(exchange, exchanges),
    deliveries: replacementsBy(delivery, deliveries),
  });

const replacementsBy = <T extends { readonly id: string }>(change: ((item: T) => T) | undefined, items: readonly T[]) =>
  new Map(change === undefined ? [] : items.map((each) => [each.id, change(each)]));

type Edit = (exchange: Exchange) => Exchange;
type EditJson = (value: unknown) => unknown;

const editResponse =
  (change: (exchange: AnsweredExchange) => Exchange): Edit =>
  (exchange) =>
    isAnswered(exchange) ? change(exchange) : exchange;

export const editWhere =
  (isMeant: (exchange: Exchange) => boolean, ...edits: readonly Edit[]): Edit =>
  (exchange) =>
    isMeant(exchange) ? edits.reduce((edited, edit) => edit(edited), exchange) : exchange;

export const editBody = (edit: EditJson): Edit =>
  editResponse((exchange) => {
    const value = bodyJson(exchange);
    return value === undefined ? exchange : withJson(exchange, edit(value));
  });

export const replaceBody = (other: string): Edit => editResponse((exchange) => withText(exchange, other));

export const replaceStatus = (other: number): Edit =>
  editResponse((exchange) => withResponse(exchange, { status: other }));

const editHeaders = (edit: (headers: readonly Header[]) => Header[]): Edit =>
  editResponse((exchange) => withResponse(exchange, { headers: edit(exchange.answer.headers) }));

const isNamed = ([name]: Header, ...names: readonly string[]): boolean =>
  names.some((each) => each.toLowerCase() === name.toLowerCase());

export const replaceContentType = (type: string): Edit =>
  editHeaders((all) => [...all.filter((each) => !isNamed(each, "Content-Type")), ["Content-Type", type]]);

export const removeRateHeaders: Edit = editHeaders((all) => all.filter((each) => !isNamed(each, ...rateLimitHeaders)));

export const respellHeaders: Edit = editHeaders((all) =>
  all.map(([name, value]): Header => [name.toLowerCase(), value]).toReversed(),
);

export const editEvents = (name: string, edit: EditJson): Edit =>
  editResponse((exchange) =>
    withEvents(
      exchange,
      exchange.answer.events.map((each) =>
        each.name === name ? { ...each, data: JSON.stringify(edit(tryParseJson(each.data))) } : each,
      ),
    ),
  );

export const endpointOf = ({ request }: Exchange): string | null =>
  endpointOfRequest(request.method, request.url)?.endpoint ?? null;

export const statusMatcher =
  (...statuses: readonly number[]) =>
  (exchange: Exchange): boolean =>
    isAnswered(exchange) && statuses.includes(exchange.answer.status);

export const responseMatcher =
  (name: string, ...statuses: readonly number[]) =>
  (exchange: Exchange): boolean =>
    endpointOf(exchange) === name && (statuses.length === 0 || statusMatcher(...statuses)(exchange));

export const bodyMatcher =
  (part: string) =>
  ({ request }: Exchange): boolean =>
    request.body.kind === "text" && request.body.text.includes(part);

export const urlMatcher =
  (part: string) =>
  ({ request }: Exchange): boolean =>
    request.url.includes(part);

export const meetsAll =
  (...conditions: readonly ((exchange: Exchange) => boolean)[]) =>
  (exchange: Exchange): boolean =>
    conditions.every((each) => each(exchange));

import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { codeOf } from "./error-body.ts";
import { hasStatus, isSuccess, outcomeOf, show } from "./response.ts";
import { isObject } from "../../base/json.ts";

/** Whether a request met a limit, or no answer at all, and so tells nothing of what it asks. */
export const isInconclusive = (exchange: Exchange): boolean =>
  exchange.answer.kind === "unanswered" || hasStatus(exchange, 429);

/** Names of an object's fields; of anything else, the value itself. */
export const fieldNamesOf = (value: unknown): string => (isObject(value) ? Object.keys(value).join(", ") : show(value));

/** An answer's status, and the error's code where it has one: `403 FORBIDDEN`. */
export function describeStatus(exchange: Exchange): string {
  const code = codeOf(exchange);
  return code === null ? outcomeOf(exchange) : `${outcomeOf(exchange)} ${code}`;
}

/** `accepted`, or what refused it. */
export const describeVerdict = (exchange: Exchange): string =>
  isSuccess(exchange) ? "accepted" : describeStatus(exchange);

/** A success with the names of its fields, or what refused it. */
export const describeResponse = (exchange: Exchange): string =>
  isSuccess(exchange) ? `${outcomeOf(exchange)} with ${fieldNamesOf(bodyJson(exchange))}` : describeStatus(exchange);

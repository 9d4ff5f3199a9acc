import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { codeOf } from "./error-body.ts";
import { hasStatus, isSuccess, outcomeOf, show } from "./shape.ts";
import { isObject } from "../../base/json.ts";

/** Whether a request met a limit, or no answer at all, and so tells nothing of what it asks. */
export const isOpen = (exchange: Exchange): boolean =>
  exchange.answer.kind === "unanswered" || hasStatus(exchange, 429);

/** Names of an object's fields; of anything else, the value itself. */
export const namesOf = (value: unknown): string => (isObject(value) ? Object.keys(value).join(", ") : show(value));

/** An answer's status, and the error's code where it has one: `403 FORBIDDEN`. */
export function statusSaid(exchange: Exchange): string {
  const code = codeOf(exchange);
  return code === null ? outcomeOf(exchange) : `${outcomeOf(exchange)} ${code}`;
}

/** `accepted`, or what refused it. */
export const verdictSaid = (exchange: Exchange): string => (isSuccess(exchange) ? "accepted" : statusSaid(exchange));

/** A success with the names of its fields, or what refused it. */
export const answerSaid = (exchange: Exchange): string =>
  isSuccess(exchange) ? `${outcomeOf(exchange)} with ${namesOf(bodyJson(exchange))}` : statusSaid(exchange);

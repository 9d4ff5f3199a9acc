import { codeIn, type ErrorResponse, type ErrorForm, errorIn, formIn } from "../../rules/bodies/errors.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";

export type { ErrorForm } from "../../rules/bodies/errors.ts";

/** What the rules of error bodies look at. */
export const errorResponseOf = (exchange: Exchange): ErrorResponse => ({
  status: statusOf(exchange),
  json: bodyJson(exchange),
});

/** The object `error` of an error body, which both forms have. */
export const errorOf = (exchange: Exchange): Readonly<Record<string, unknown>> | null =>
  errorIn({ json: bodyJson(exchange) });

/** The code of an error body in either form; `null` where there is none to read. */
export const codeOf = (exchange: Exchange): string | null => codeIn({ json: bodyJson(exchange) });

/** The form of an error body; `null` where it has neither. */
export const formOf = (exchange: Exchange): ErrorForm | null => formIn(errorResponseOf(exchange));

/** The one form that all bodies fit, as extra fields are legal; `null` where there is none. */
export function commonForm(forms: readonly ErrorForm[]): ErrorForm | null {
  if (forms.every((form) => form === "both")) return "both";
  if (!forms.includes("form-b")) return "form-a";
  return forms.includes("form-a") ? null : "form-b";
}

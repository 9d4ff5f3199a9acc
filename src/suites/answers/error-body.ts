import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { isObject } from "../../base/json.ts";
import { member } from "./shape.ts";

/** Form of an error body: the fields of form A, of form B, or of both at once. */
export type ErrorForm = "form-a" | "form-b" | "both";

/** The object `error` of an error body, which both forms have. */
export function errorOf(exchange: Exchange): Readonly<Record<string, unknown>> | null {
  const error = member(bodyJson(exchange), "error");
  return isObject(error) ? error : null;
}

/** The error's code in either form; `null` where there is none to read. */
export function codeOf(exchange: Exchange): string | null {
  const code = errorOf(exchange)?.["code"];
  return typeof code === "string" ? code : null;
}

/**
 * The form of an error body; `null` where it has neither. `status: "error"` at the top tells form B; `status` inside
 * `error` tells form A, whatever its value, which is ERR-6's to judge.
 */
export function formOf(exchange: Exchange): ErrorForm | null {
  const error = errorOf(exchange);
  if (error === null) return null;
  if (member(bodyJson(exchange), "status") === "error")
    return error["status"] === statusOf(exchange) ? "both" : "form-b";
  return error["status"] === undefined ? null : "form-a";
}

/** The one form that all bodies fit, as extra fields are legal; `null` where there is none. */
export function commonForm(forms: readonly ErrorForm[]): ErrorForm | null {
  if (forms.every((form) => form === "both")) return "both";
  if (!forms.includes("form-b")) return "form-a";
  return forms.includes("form-a") ? null : "form-b";
}

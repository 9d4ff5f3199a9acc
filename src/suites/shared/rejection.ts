import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type ErrorCodeName, errorCodes } from "../../spec/errors.ts";
import { type Breach, breach, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { hasStatus, member, outcomeOf, show } from "./response.ts";

/** The code of an error body; it stands in the same place in form A and form B. */
export const codeOf = (exchange: Exchange): unknown => member(bodyJson(exchange), "error", "code");

/** What a request ought to be refused with, and whether a request like it, but sound, was accepted. */
export interface ExpectedRejection {
  readonly status: number;
  /** `null`: any code but one that the document gives to another status. */
  readonly code: ErrorCodeName | null;
  readonly control: Exchange;
  readonly isControlAccepted: boolean;
}

/** Judges a refusal by its status and code; a limit that was met instead leaves it open. */
export function judgeRejection(
  refused: Exchange,
  { status, code, control, isControlAccepted }: ExpectedRejection,
): { readonly kind: "holds" } | Breach | Unproven {
  if (!isControlAccepted)
    return unproven(`the same request without the mistake was not accepted either (${outcomeOf(control)})`);
  if (hasStatus(refused, 429)) return unproven("a limit refused the request first (429)");
  const found = codeOf(refused);
  const isRightCode = code === null ? !isOfOtherStatus(found, status) : found === code;
  if (hasStatus(refused, status) && isRightCode) return holds();
  const actual = found === undefined ? outcomeOf(refused) : `${outcomeOf(refused)} with the code ${show(found)}`;
  const expected =
    code === null ? `${status}, with a code that is not of another status` : `${status} with the code ${code}`;
  return breach(expected, actual, refused, control);
}

/** Whether the document gives a code to another status. */
function isOfOtherStatus(code: unknown, status: number): boolean {
  const known: Readonly<Record<string, { readonly status: unknown }>> = errorCodes;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) && known[code]?.status !== status;
}

/** How an exchange ended, and the code that its error gave: `HTTP 400 MISSING_REQUIRED_FIELD`. */
export function describeStatus(exchange: Exchange): string {
  const code = codeOf(exchange);
  return typeof code === "string" ? `${outcomeOf(exchange)} ${code}` : outcomeOf(exchange);
}

import { formatValue } from "../../base/format-value.ts";
import { bodyText, type Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { type ErrorCodeName, errorCodes } from "../../spec/errors.ts";
import { describeStatus, errorOf, hasStatus, outcomeOf } from "./response.ts";

export interface ExpectedRejection {
  readonly status: number;
  /** Error code that the response must have. `null`: any code, except a code documented for another status. */
  readonly code: ErrorCodeName | null;
  /** The same request without its mistake. */
  readonly control: Exchange;
  readonly isControlAccepted: boolean;
}

/**
 * Judges the rejection of an invalid request. Returns `unproven` if something else possibly caused the rejection, such
 * as a rate limit.
 */
export function judgeRejection(
  rejected: Exchange,
  { status, code, control, isControlAccepted }: ExpectedRejection,
): { readonly kind: "holds" } | Breach | Unproven {
  if (!isControlAccepted)
    return unproven(`the same request without the mistake was not accepted either (${outcomeOf(control)})`);
  if (hasStatus(rejected, 429)) return unproven("a rate limit rejected the request first (429)");
  const found = errorOf(rejected)?.["code"];
  const isExpectedCode = code === null ? !isOfOtherStatus(found, status) : found === code;
  if (hasStatus(rejected, status) && isExpectedCode) return holds();
  const actual =
    found === undefined ? outcomeOf(rejected) : `${outcomeOf(rejected)} with the code ${formatValue(found)}`;
  const expected =
    code === null ? `${status}, with a code that is not of another status` : `${status} with the code ${code}`;
  return breach(expected, actual, rejected, control);
}

function isOfOtherStatus(code: unknown, status: number): boolean {
  const documented: Readonly<Record<string, { readonly status: unknown }>> = errorCodes;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) && documented[code]?.status !== status;
}

const urlWords = /url|address|https?\b|loopback|private|localhost|\bhost(name)?\b|scheme|reachable/i;

/**
 * Returns `unproven` if the receiver's URL can explain the rejection. For example, some targets refuse loopback
 * addresses.
 */
export function rejectedReceiverAddress(rejected: Exchange, isPromised: boolean): Unproven | null {
  if (!hasStatus(rejected, 400, 403, 422)) return null;
  if (isPromised && !urlWords.test(bodyText(rejected) ?? "")) return null;
  return unproven(
    `the target does not accept the receiver's address (${describeStatus(rejected)})`,
    need("receiver that is taken"),
  );
}

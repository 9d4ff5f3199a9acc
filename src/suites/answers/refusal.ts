import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { ErrorCodeName } from "../../interface/errors.ts";
import { type Breach, breach, holds, type Unproven, unproven } from "../../run/finding.ts";
import { hasStatus, member, outcomeOf, show } from "./shape.ts";

/** The code of an error body; it stands in the same place in form A and form B. */
export const codeOf = (exchange: Exchange): unknown => member(bodyJson(exchange), "error", "code");

/** What a request ought to be refused with, and whether a request like it, but sound, was accepted. */
export interface ExpectedRefusal {
  readonly status: number;
  readonly code: ErrorCodeName;
  readonly control: Exchange;
  readonly isControlAccepted: boolean;
}

/** Judges a refusal by its status and code; a limit that was met instead leaves it open. */
export function judgeRefusal(
  refused: Exchange,
  { status, code, control, isControlAccepted }: ExpectedRefusal,
): { readonly kind: "holds" } | Breach | Unproven {
  if (!isControlAccepted)
    return unproven(`the same request without the mistake was not accepted either (${outcomeOf(control)})`);
  if (hasStatus(refused, 429)) return unproven("a limit refused the request first (429)");
  const found = codeOf(refused);
  if (hasStatus(refused, status) && found === code) return holds();
  const actual = found === undefined ? outcomeOf(refused) : `${outcomeOf(refused)} with the code ${show(found)}`;
  return breach(`${status} with the code ${code}`, actual, refused, control);
}

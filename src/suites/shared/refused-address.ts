import { bodyText, type Exchange } from "../../evidence/exchange.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { hasStatus } from "./response.ts";
import { describeStatus } from "./describe.ts";

/** Words by which a refusal tells that it is of the address. */
const ofAddress = /url|address|https?\b|loopback|private|localhost|\bhost(name)?\b|scheme|reachable/i;

/**
 * Why the refusal of a webhook or an alert may be of the receiver's address: a server that calls what users name may refuse
 * loopback, private networks or plain HTTP. `null` where it is of something else.
 *
 * @param isPromised somebody promised that the target reaches the receiver; then the refusal must speak of the address
 */
export function rejectedReceiverAddress(refused: Exchange, isPromised: boolean): Unproven | null {
  if (!hasStatus(refused, 400, 403, 422)) return null;
  if (isPromised && !ofAddress.test(bodyText(refused) ?? "")) return null;
  return unproven(
    `the target does not take the receiver's address (${describeStatus(refused)})`,
    need("receiver that is taken"),
  );
}

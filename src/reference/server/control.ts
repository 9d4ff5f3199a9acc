import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { trouble, type Operation, type Trouble } from "../trouble.ts";

/** The header that guards what stands outside the interface: moving the clock, and deployments. */
export const controlTokenHeader = "X-Control-Token";

/** Why a request that moves the clock or a deployment is refused, or `null`. Without a token everybody may. */
export function controlTrouble(
  operation: Operation,
  headers: IncomingHttpHeaders,
  token: string | null,
): Trouble | null {
  if (token === null || (operation !== "clock" && operation !== "control")) return null;
  const given = headers[controlTokenHeader.toLowerCase()];
  return typeof given === "string" && isSame(given, token)
    ? null
    : trouble("wrong-key", `This needs the control token of the server in the header ${controlTokenHeader}.`);
}

/** In a time that does not tell how much of it is right. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

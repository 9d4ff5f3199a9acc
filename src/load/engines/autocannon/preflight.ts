import type { Transport } from "../../../wire/transport.ts";
import { callOf, type Where } from "./calls.ts";
import { closesConnection } from "./raw-headers.ts";

/**
 * Asks for an agent's health, which uses nothing up: is somebody there, with a certificate that holds (autocannon checks none), and do
 * connections stay open? Tells the latter.
 *
 * @throws {Error} where there is no answer at all
 */
export async function keepsConnections(where: Where, key: string, wire: Transport): Promise<boolean> {
  const call = callOf({ kind: "health", agent: "answering" }, key, where);
  const { answer } = await wire.open({ ...call, headers: Object.entries(call.headers), key: null }).finished;
  if (answer.kind === "unanswered")
    throw new Error(
      `${call.url} does not answer (${answer.detail}): is the target running, and is its base URL right?`,
    );
  return !closesConnection(answer.headers);
}

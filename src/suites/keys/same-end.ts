import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { agentPath } from "../../run/send/client.ts";
import { unauthenticatedSent } from "../authentication/probes.ts";
import { exchangeOn, neverIssuedKey, prefixOf } from "../shared/key-requests/send-requests.ts";
import { hasStatus, isInconclusive, isSuccess, outcomeOf } from "../shared/response.ts";

const since = "1.2";

/** Number of characters to copy from the end of a valid key. A faulty cache might compare only these characters. */
const endLength = 12;

export function keyOfSameEnd(key: string): string | null {
  const prefixLength = prefixOf(key)?.length ?? 0;
  return key.length < prefixLength + 2 * endLength
    ? null
    : neverIssuedKey(key).slice(0, -endLength) + key.slice(-endLength);
}

interface SameEndTried {
  readonly good: Exchange;
  readonly exchange: Exchange;
}

export const sameEndTried = probe(
  "a key with another beginning and the end of the main key is used right after the main key",
  { requests: 0, reads: true, stage: "limits", after: [unauthenticatedSent], since },
  async ({ client, target }): Promise<SameEndTried | null> => {
    const { answering } = target.agents;
    const key = keyOfSameEnd(client.key.key);
    if (answering === undefined || key === null) return null;
    const good = await client.health(answering);
    const options = { authorization: `Bearer ${key}`, unpaced: true };
    return { good, exchange: await client.send("GET", agentPath(answering, "health"), options) };
  },
);

export const sameEndCheck: Check = check(
  "AUTH-3",
  { tried: sameEndTried, ordinary: unauthenticatedSent },
  ({ tried, ordinary }): Finding<never> => {
    if (tried === null) return inapplicable("no agent is known, or the key is too short");
    const { good, exchange } = tried;
    const wrong = exchangeOn(ordinary, "health", "a wrong key");
    if (!isSuccess(good) || wrong === null || !hasStatus(wrong, 401))
      return inapplicable("health does not accept the main key, or does not reject other wrong keys");
    if (isInconclusive(exchange)) return unproven(`the key was neither accepted nor rejected (${outcomeOf(exchange)})`);
    return isSuccess(exchange)
      ? breach("401 to a key that shares only its end with a valid key", outcomeOf(exchange), exchange, good)
      : holds();
  },
  { as: "same end", since },
);

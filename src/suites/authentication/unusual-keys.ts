import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { createRequestSender, exchangeOn, prepareFixtures } from "../shared/key-requests/send-requests.ts";
import { neverIssuedKey, prefixOf } from "../shared/key-requests/altered-keys.ts";
import { judgeRefusal } from "../shared/key-requests/key-checks.ts";
import { describeStatus, hasStatus, isInconclusive, isSuccess } from "../shared/response.ts";
import { unauthenticatedSent } from "./probes.ts";
import { agentPath } from "../../run/send/client.ts";

const since = "1.2";

/** Keys that were never issued, with a length or characters that a server may fail to handle. */
const unusualKeys = {
  "of one letter": "x",
  "of 400 letters": "ah_".padEnd(400, "kX7"),
  "shaped like a JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJl",
  "with a percent-encoded NUL": "ah_no%00body",
  "with an apostrophe": "ah_no'body",
} as const;

type UnusualKey = keyof typeof unusualKeys;

/** RFC 6750, section 2.1, forbids `'` and `%` in a key. Therefore, a server is allowed to answer 400 to these keys. */
const mayBeMalformed: readonly UnusualKey[] = ["with an apostrophe", "with a percent-encoded NUL"];

interface UnusualKeysSent {
  readonly sent: readonly { readonly name: UnusualKey; readonly exchange: Exchange }[];
}

const unusualKeysSent = probe(
  "usage is read with keys that look like none",
  { requests: 0, reads: true, stage: "limits", since, after: [unauthenticatedSent] },
  async (context): Promise<UnusualKeysSent> => {
    if (hasFewRequests(context.target)) return { sent: [] };
    const sender = createRequestSender(context.client, await prepareFixtures(context, "of-unusual-keys"), context);
    const sent: UnusualKeysSent["sent"][number][] = [];
    for (const [name, key] of Object.entries(unusualKeys) as [UnusualKey, string][]) {
      const exchange = await sender.send({ method: "GET", path: "/usage", options: {} }, `Bearer ${key}`);
      if (exchange !== null) sent.push({ name, exchange });
    }
    return { sent };
  },
);

function judgeUnusualKeys({ sent }: UnusualKeysSent, usual: Exchange | null): Finding<never> {
  const judged = sent.filter(({ exchange }) => !isInconclusive(exchange));
  if (judged.length === 0 || usual === null || !hasStatus(usual, 401))
    return inapplicable("no such key was sent, or usage does not answer 401 to a usual wrong key");
  const wrong = judged.find(
    ({ name, exchange }) => !hasStatus(exchange, 401) && !(mayBeMalformed.includes(name) && hasStatus(exchange, 400)),
  );
  if (wrong === undefined) return holds();
  return breach(
    `401 to a wrong key ${wrong.name}, as to any wrong key`,
    describeStatus(wrong.exchange),
    wrong.exchange,
    usual,
  );
}

export const unusualKeysCheck: Check = check(
  "AUTH-3",
  { unusual: unusualKeysSent, usual: unauthenticatedSent },
  ({ unusual, usual }) => judgeUnusualKeys(unusual, exchangeOn(usual, "usage", "a wrong key")),
  { as: "unusual texts", since },
);

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

const sameEndTried = probe(
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
    return judgeRefusal(exchange, "401 to a key that shares only its end with a valid key", good);
  },
  { as: "same end", since },
);

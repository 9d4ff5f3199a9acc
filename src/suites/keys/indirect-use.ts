import { getPath } from "../../base/json.ts";
import { encodedSegment } from "../../base/http.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests, resolveKey } from "../../run/plan/needs.ts";
import { type Probe, probe, type ProbeContext } from "../../run/probe.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { expiredKeySent, unauthenticatedSent } from "../authentication/probes.ts";
import { sendSigned } from "../authentication/signing.ts";
import {
  createRequestSender,
  exchangeOn,
  type KeyRequests,
  prepareFixtures,
  requestFor,
  successesOn,
} from "../shared/key-requests/send-requests.ts";
import { neverIssuedKey } from "../shared/key-requests/altered-keys.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";
import { judgeRefusal } from "../shared/key-requests/key-checks.ts";
import { batchSubmitted, startedId } from "../operations/probes.ts";
import { hasStatus, isInconclusive, isSuccess, outcomeOf, wasRejected } from "../shared/response.ts";
import { webhookIdOf, webhookPath } from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { otherAddressKeyTried } from "./probes.ts";

// This file tests invalid and restricted keys in special cases. For example, a cache may serve an expired key right
// after the same request with a valid key.

const since = "1.2";

const readEndpoints = ["health", "list", "usage", "keyUsage", "deliveries", "operations"] as const;

interface CachedRequest {
  readonly kind: "an expired key" | "a wrong key";
  readonly endpoint: EndpointName;
  readonly good: Exchange;
  readonly exchange: Exchange;
}

const keysTriedAfterGoodCalls = probe(
  "an expired and a wrong key are used right after a good call of the same path",
  {
    requests: (target) => (hasFewRequests(target) ? 0 : readEndpoints.length - 1),
    reads: true,
    stage: "limits",
    after: [unauthenticatedSent],
    since,
  },
  async (context): Promise<{ readonly requests: readonly CachedRequest[] }> => {
    const { client, target } = context;
    const fixtures = await prepareFixtures(context, "of-cached-calls");
    const expired = resolveKey("keys.expired", target);
    const users = [
      ...(expired === null
        ? []
        : [{ kind: "an expired key", user: client.as(expired), authorization: undefined } as const]),
      { kind: "a wrong key", user: client, authorization: `Bearer ${neverIssuedKey(client.key.key)}` } as const,
    ];
    const senders = users.map(({ user, ...rest }) => ({
      ...rest,
      sender: createRequestSender(user, fixtures, context),
    }));
    const requests: CachedRequest[] = [];
    // With a low limit, tests only `health`, which does not count toward it, and only if an expired key is known.
    const endpointsIfFew = expired === null ? [] : (["health"] as const);
    for (const endpoint of hasFewRequests(target) ? endpointsIfFew : readEndpoints) {
      const request = requestFor[endpoint](fixtures);
      if (request === null) continue;
      for (const { kind, sender, authorization } of senders) {
        const good = await client.send(request.method, request.path);
        const exchange = isSuccess(good) ? await sender.send(request, authorization) : null;
        if (exchange !== null) requests.push({ kind, endpoint, good, exchange });
      }
    }
    return { requests };
  },
);

const judgeNotServedFromCache =
  (kind: CachedRequest["kind"]) =>
  ({
    cached: { requests },
    ordinary,
  }: {
    readonly cached: { readonly requests: readonly CachedRequest[] };
    readonly ordinary: KeyRequests;
  }): Finding<never> => {
    const rejecting = ordinary.requests.filter((each) => each.kind === kind && hasStatus(each.exchange, 401));
    const judged = requests.filter(
      (each) =>
        each.kind === kind &&
        !isInconclusive(each.exchange) &&
        rejecting.some(({ endpoint }) => endpoint === each.endpoint),
    );
    const served = judged.find(({ exchange }) => isSuccess(exchange));
    if (served !== undefined)
      return breach(
        "401, right after a good call of the same path, too",
        `${outcomeOf(served.exchange)} to ${kind} on ${served.endpoint}`,
        served.exchange,
        served.good,
      );
    return judged.length === 0 ? inapplicable("no endpoint rejected this kind of key in other requests") : holds();
  };

interface ForeignRead {
  readonly control: Exchange;
  readonly read: Exchange;
}

const foreignRead = (
  whose: string,
  after: Probe,
  pathOf: (context: ProbeContext, agents: readonly string[]) => string | null,
) =>
  probeIfManyRequests(
    `a key that is restricted to one agent reads ${whose}`,
    { needs: ["keys.oneAgent"], requests: 1, reads: true, stage: "limits", after: [after], since },
    async (context): Promise<ForeignRead | null> => {
      const { client, given } = context;
      const key = given["keys.oneAgent"];
      const path = pathOf(context, key.agents ?? []);
      if (path === null) return null;
      return { control: await client.send("GET", path), read: await client.as(key).send("GET", path) };
    },
  );

const foreignDeliveriesRead = foreignRead(
  "the deliveries of another agent's webhook",
  invokedWithWebhooks,
  (context, agents) => {
    const created = successesOn(context, "webhooks").find(({ request }) => {
      const agent = getPath(sentJson(request), "agent_id");
      return typeof agent === "string" && !agents.includes(agent);
    });
    const id = created === undefined ? null : webhookIdOf(created);
    return id === null ? null : webhookPath(id, "/deliveries");
  },
);

const foreignOperationRead = foreignRead(
  "an operation of another agent",
  batchSubmitted,
  ({ client, recorder }, agents) => {
    const isOfOther = ({ pathname }: URL): boolean =>
      pathname.includes("/agents/") && !agents.some((agent) => pathname.includes(`/agents/${encodedSegment(agent)}/`));
    const started = recorder
      .exchangesSinceOutage()
      .find(
        (each) =>
          each.key === client.key.name &&
          each.request.method === "POST" &&
          startedId(each) !== null &&
          isOfOther(new URL(each.request.url)),
      );
    const id = startedId(started ?? null);
    return id === null ? null : `/operations/${encodedSegment(id)}`;
  },
);

const judgeForeignRead =
  (what: "deliveries" | "an operation") =>
  (tried: ForeignRead | null): Finding<never> => {
    if (tried === null)
      return inapplicable(`${what} of another agent: none known, or the key has few requests a minute`);
    const { control, read } = tried;
    if (!isSuccess(control)) return unproven(`the main key could not read this either (${outcomeOf(control)})`);
    return judgeRefusal(read, `a key that is restricted to one agent does not read ${what} of another`);
  };

const otherAddressKeySigned = probe(
  "a key that may only come from other addresses is used in a signed request",
  { needs: ["keys.elsewhere", "signing"], requests: 0, reads: true, stage: "limits", since },
  async (context) => ({ signed: await sendSigned(context, context.given["keys.elsewhere"], "GET", "/usage") }),
);

export const cachedResponseChecks: readonly Check[] = [
  check(
    "AUTH-4",
    { cached: keysTriedAfterGoodCalls, ordinary: expiredKeySent },
    judgeNotServedFromCache("an expired key"),
    { as: "after a good call", since },
  ),
  check(
    "AUTH-3",
    { cached: keysTriedAfterGoodCalls, ordinary: unauthenticatedSent },
    judgeNotServedFromCache("a wrong key"),
    { as: "after a good call", since },
  ),
];

export const indirectKeyChecks: readonly Check[] = [
  check("KEY-6", foreignDeliveriesRead, judgeForeignRead("deliveries"), { as: "deliveries of another agent", since }),
  check("KEY-6", foreignOperationRead, judgeForeignRead("an operation"), { as: "operation of another agent", since }),
  check(
    "KEY-7",
    { tried: otherAddressKeyTried, signing: otherAddressKeySigned },
    ({ tried, signing: { signed } }): Finding<never> => {
      const plain = exchangeOn(tried, "usage");
      if (!wasRejected(plain)) return inapplicable("the key is not rejected without a signature; see KEY-7");
      return judgeRefusal(signed, "a signature does not get the key accepted from here", plain);
    },
    { as: "signed", since },
  ),
];

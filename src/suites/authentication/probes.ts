import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { unknownAgentId } from "../../run/discovery/discover-target.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { type Discovery, probe, type ProbeContext } from "../../run/probe.ts";
import { agentPath } from "../../run/send/client.ts";
import { unlessWaitRefused } from "../limits/exhaust.ts";
import { type EndpointName, endpointNames } from "../../spec/endpoints.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import { usableKeys } from "../../target/target.ts";
import { useExpiryMs } from "../limits/timed-retry.ts";
import {
  createRequestSender,
  type EndpointRequest,
  firstSuccessOn,
  type Fixtures,
  type RejectedKeyRequest,
  type KeyRequests,
  prepareFixtures,
  requestFor,
  type RequestSender,
  sendToEndpoints,
} from "../shared/key-requests/send-requests.ts";
import { alteredAuthorizations, alteredKeyKinds, neverIssuedKey } from "../shared/key-requests/altered-keys.ts";
import { acceptingEndpoints, keyExpectations } from "../shared/key-requests/key-checks.ts";
import { isSuccess } from "../shared/response.ts";

/** Sends an expired key to every endpoint. Runs late, because some requests need an existing webhook or operation. */
export const expiredKeySent = probe(
  "an expired key is used on every endpoint, and on the second page of the list",
  { needs: ["keys.expired"], requests: 0, reads: true, stage: "limits" },
  async (context): Promise<KeyRequests> => {
    const fixtures = await prepareFixtures(context, "of-expired-key");
    const sender = createRequestSender(context.client.as(context.given["keys.expired"]), fixtures, context);
    const requests = await sendToEndpoints(sender, "an expired key", endpointNames);
    const second = hasSecondPage(context.discovery)
      ? await sender.send({ method: "GET", path: "/agents?page=2&limit=2", options: {} })
      : null;
    return {
      requests:
        second === null ? requests : [...requests, { kind: "an expired key", endpoint: "list", exchange: second }],
    };
  },
);

function hasSecondPage({ listing }: Discovery): boolean {
  const pages = getPath(bodyJson(listing), "pagination", "pages");
  return isSuccess(listing) && typeof pages === "number" && pages >= 2;
}

/** Sends a health request with every valid key. Health requests use up no limit. */
export const everyKeyUsed = probe(
  "every valid key is used once",
  { requests: 0, reads: true },
  async ({ client, target, discovery }) => {
    const agent = target.agents.answering;
    // If discovery sent a health request with the main key, this probe reuses that request.
    const answers: Exchange[] = [...discovery.health].slice(0, 1);
    const others = usableKeys(target).filter(({ name }) => answers.length === 0 || name !== client.key.name);
    if (agent !== undefined) for (const key of others) answers.push(await client.as(key).health(agent));
    return { answers };
  },
);

export interface UnauthenticatedRequests extends KeyRequests {
  /** A health request whose `Authorization` header has `bearer` in lower case before the valid key. */
  readonly lowerCase: Exchange | null;
  /** A request with three mistakes: a wrong key, an unknown agent and no query. */
  readonly allWrong: Exchange | null;
  readonly keyAndBodyWrong: Exchange | null;
  readonly keyAndBodyMissing: readonly Exchange[];
}

/**
 * Endpoints to try with an altered key if the main key's limit is low. Altered keys of other kinds go only to
 * `health`.
 */
const endpointsIfFewRequests: Readonly<Partial<Record<RejectedKeyKind, readonly EndpointName[]>>> = {
  "a key with another last character": ["health", "invoke", "list"],
  "a key that is lengthened": ["health", "list"],
};
/** Below this limit per minute, altered keys go to fewer endpoints: trying all takes up to 66 requests. */
const minPerMinuteForAllEndpoints = 100;

/**
 * Sends requests without a valid key to every endpoint. Runs late, because some requests need webhooks and operations
 * of earlier probes.
 */
export const unauthenticatedSent = probe(
  "every endpoint is asked without a key, with a wrong one, and with what comes close to a good one",
  { requests: 1, reads: true, stage: "limits", mayDropRequests: true },
  async (context): Promise<UnauthenticatedRequests> => {
    const { client, target, discovery, time } = context;
    const { key } = client.key;
    // Lets used-up limits reset first. A 429 would hide that the server wrongly accepts an altered key.
    if (time.canAdvance) await time.passTime(useExpiryMs, "the key must have its allowance back");
    const fixtures = await prepareFixtures(context, "of-strangers");
    const sender = createRequestSender(client, fixtures, context);
    const wrongKey = `Bearer ${neverIssuedKey(key)}`;
    const wrong = await sendToEndpoints(sender, "a wrong key", endpointNames, wrongKey);
    const missing = await sendToEndpoints(sender, "no key", endpointNames, null);
    const allWrong = await sender.send(emptyPost(agentPath(unknownAgentId({ discovery, target }), "invoke")), wrongKey);
    const isAffordable = hasManyRequests(context);
    const keyAndBodyWrong =
      fixtures.agent === null || !isAffordable
        ? null
        : await sender.send(emptyPost(agentPath(fixtures.agent, "invoke")), wrongKey);
    const keyAndBodyMissing: Exchange[] = [];
    const streamPath = fixtures.agent === null || !isAffordable ? [] : [agentPath(fixtures.agent, "stream")];
    for (const path of ["/webhooks", "/alerts", ...streamPath]) {
      const rejected = await sender.send(emptyPost(path), null);
      if (rejected !== null) keyAndBodyMissing.push(rejected);
    }
    const health = requestFor.health(fixtures);
    const lowerCase = health === null ? null : await sender.send(health, `bearer ${key}`);
    const altered: RejectedKeyRequest[] = [];
    for (const kind of alteredKeyKinds) {
      const authorization = alteredAuthorizations[kind](key);
      const endpoints = isAffordable ? keyExpectations[kind].on : (endpointsIfFewRequests[kind] ?? ["health"]);
      if (authorization !== null)
        altered.push(...(await sendHealthFirst(sender, { kind, endpoints, authorization }, acceptingEndpoints(wrong))));
    }
    await sendDeliveriesControl(context, fixtures);
    return { requests: [...wrong, ...missing, ...altered], lowerCase, allWrong, keyAndBodyWrong, keyAndBodyMissing };
  },
);

async function sendDeliveriesControl(context: ProbeContext, fixtures: Fixtures): Promise<void> {
  const request = requestFor.deliveries(fixtures);
  if (request === null || firstSuccessOn(context, "deliveries") !== undefined) return;
  await unlessWaitRefused(() => context.client.send(request.method, request.path));
}

const emptyPost = (path: string): EndpointRequest => ({ method: "POST", path, options: { json: {} } });
const hasManyRequests = ({ target, client }: ProbeContext): boolean =>
  target.clock !== null || (limitsOf(client.key, target)?.perMinute ?? 0) >= minPerMinuteForAllEndpoints;

interface AlteredRequests {
  readonly kind: RejectedKeyKind;
  readonly endpoints: readonly EndpointName[];
  readonly authorization: string;
}

/**
 * Sends an altered key to health. If health rejects the key, sends the key to the remaining endpoints, too.
 * @param acceptingAny endpoints that accept any key; acceptance there does not count
 */
async function sendHealthFirst(
  sender: RequestSender,
  { kind, endpoints, authorization }: AlteredRequests,
  acceptingAny: ReadonlySet<EndpointName>,
): Promise<RejectedKeyRequest[]> {
  const first = await sendToEndpoints(sender, kind, ["health"], authorization);
  if ([...acceptingEndpoints(first)].some((endpoint) => !acceptingAny.has(endpoint))) return first;
  const rest = endpoints.filter((endpoint) => endpoint !== "health");
  return [...first, ...(await sendToEndpoints(sender, kind, rest, authorization))];
}

import type { Exchange } from "../../evidence/exchange.ts";
import { type EndpointName, endpointNames } from "../../spec/endpoints.ts";
import { agentPath } from "../../run/send/client.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { unknownAgentOf } from "../../run/discovery/unknown-agent-id.ts";
import { WaitRefused } from "../../run/time/wait-budget.ts";
import {
  sendTrials,
  type TrialSender,
  type KeyTrial,
  createTrialSender,
  type KeyTrials,
} from "../shared/key-trials/send-trials.ts";
import { acceptingEndpoints } from "../shared/key-trials/key-checks.ts";
import { useExpiryMs } from "../limits/timed-retry.ts";
import type { RejectedKeyKind } from "../../spec/rejected-key-kinds.ts";
import {
  type EndpointRequest,
  requestFor,
  type Fixtures,
  prepareFixtures,
  firstSuccessOn,
} from "../shared/key-trials/fixtures.ts";
import {
  alteredAuthorization,
  alteredKeyKinds,
  neverIssuedKey,
  withOtherLastCharacter,
} from "../shared/key-trials/altered-keys.ts";

/** What came of requests without a valid key. A request that was not sent any more is absent. */
export interface UnauthenticatedTrials extends KeyTrials {
  /** The valid key behind `bearer` in lower case, on health. */
  readonly lowerCase: Exchange | null;
  /** A wrong key, an agent that does not exist and no query, in one request. */
  readonly allWrong: Exchange | null;
  /** A wrong key and no query, to an agent that exists; `null` where none is known. */
  readonly keyAndBodyWrong: Exchange | null;
  /** No key, and a body without a field, where others than invoke take one. */
  readonly keyAndBodyMissing: readonly Exchange[];
}

/** Where requests are dear, most ways to spoil a key are tried on one endpoint. */
const fewEndpoints = (kind: RejectedKeyKind): readonly EndpointName[] =>
  kind === "a key that is lengthened" ? ["health", "list"] : ["health"];
/** Where a key that is nearly good is tried by those who have few requests: one of each kind. */
const likelyEndpoints = ["health", "invoke", "list"] as const satisfies readonly EndpointName[];
/** So many requests a minute are a sign that some more cost little. */
const plentyPerMinute = 100;

/** After all that creates webhooks and operations, so that there is something to ask for. */
export const unauthenticatedSent = probe(
  "every endpoint is asked without a key, with a wrong one, and with what comes close to a good one",
  { requests: 1, reads: true, stage: "limits", mayDropRequests: true },
  async (scene): Promise<UnauthenticatedTrials> => {
    const { client, target, discovery, time } = scene;
    const { key } = client.key;
    // What is taken for the good key would meet its 429, and look like a refusal.
    if (time.canAdvance) await time.passTime(useExpiryMs, "the key must have its allowance back");
    const ground = await prepareFixtures(scene, "of-strangers");
    const asking = createTrialSender(client, ground, scene);
    const wrongKey = `Bearer ${neverIssuedKey(key)}`;
    const wrong = await sendTrials(asking, "a wrong key", endpointNames, wrongKey);
    const missing = await sendTrials(asking, "no key", endpointNames, null);
    const allWrong = await asking.send(emptyInvoke(unknownAgentOf({ discovery, target })), wrongKey);
    // Where requests are dear, the one before shows the same.
    const keyAndBodyWrong =
      ground.agent === null || !isGenerous(scene) ? null : await asking.send(emptyInvoke(ground.agent), wrongKey);
    const closely = (
      kind: RejectedKeyKind,
      authorization: string,
      endpoints: readonly EndpointName[],
    ): Promise<KeyTrial[]> =>
      askCarefully(asking, kind, { authorization, endpoints, openAnyhow: acceptingEndpoints(wrong) });
    const keyAndBodyMissing: Exchange[] = [];
    for (const path of pathsOfBodies(isGenerous(scene) ? ground.agent : null)) {
      const refused = await asking.send({ method: "POST", path, options: { json: {} } }, null);
      if (refused !== null) keyAndBodyMissing.push(refused);
    }
    const closeOn = isGenerous(scene) ? endpointNames : likelyEndpoints;
    const close = await closely("a key with another last character", `Bearer ${withOtherLastCharacter(key)}`, closeOn);
    const health = requestFor.health(ground);
    const lowerCase = health === null ? null : await asking.send(health, `bearer ${key}`);
    for (const kind of alteredKeyKinds) {
      const authorization = alteredAuthorization[kind](key);
      const endpoints = isGenerous(scene) ? endpointNames : fewEndpoints(kind);
      if (authorization !== null) close.push(...(await closely(kind, authorization, endpoints)));
    }
    await controlDeliveries(scene, ground);
    const cells = [...wrong, ...missing, ...close];
    return { cells, lowerCase, allWrong, keyAndBodyWrong, keyAndBodyMissing };
  },
);

/** The positive control of what nothing else of a small run asks for; without the time for it, what was asked before is not lost. */
async function controlDeliveries(scene: ProbeContext, ground: Fixtures): Promise<void> {
  const call = requestFor.deliveries(ground);
  if (call === null || firstSuccessOn(scene, "deliveries") !== undefined) return;
  try {
    await scene.client.send(call.method, call.path);
  } catch (error) {
    if (!(error instanceof WaitRefused)) throw error;
  }
}

const pathsOfBodies = (agent: string | null): string[] => [
  "/webhooks",
  "/alerts",
  ...(agent === null ? [] : [agentPath(agent, "stream")]),
];

const emptyInvoke = (agent: string): EndpointRequest => ({
  method: "POST",
  path: agentPath(agent, "invoke"),
  options: { json: {} },
});

const isGenerous = ({ target, client }: ProbeContext): boolean =>
  target.clock !== null || (limitsOf(client.key, target)?.perMinute ?? 0) >= plentyPerMinute;

interface Close {
  readonly authorization: string;
  readonly endpoints: readonly EndpointName[];
  /** Endpoints that let in any key at all. */
  readonly openAnyhow: ReadonlySet<EndpointName>;
}

/**
 * What is nearly the good key is tried on health first, which no limit counts: a server that takes it for the good one is found out
 * there, and the key's allowance stays untouched.
 */
async function askCarefully(
  asking: TrialSender,
  kind: RejectedKeyKind,
  { authorization, endpoints, openAnyhow }: Close,
): Promise<KeyTrial[]> {
  const first = await sendTrials(asking, kind, ["health"], authorization);
  const letIn = [...acceptingEndpoints(first)].some((endpoint) => !openAnyhow.has(endpoint));
  if (letIn) return first;
  const rest = endpoints.filter((endpoint) => endpoint !== "health");
  return [...first, ...(await sendTrials(asking, kind, rest, authorization))];
}

import type { Exchange } from "../../evidence/exchange.ts";
import { type EndpointName, endpointNames } from "../../interface/endpoints.ts";
import { agentPath } from "../../run/client.ts";
import { probe, type Scene } from "../../run/probe.ts";
import { limitsOf } from "../../run/tier-of.ts";
import { unknownAgentOf } from "../../run/unknown-agent.ts";
import { WaitRefused } from "../../run/wait-budget.ts";
import { askEach, type Asking, type Cell, startAsking, type Tried } from "../access/asking.ts";
import { openTo } from "../access/judge.ts";
import { runOutMs } from "../limits/later.ts";
import type { KeyKind } from "../../interface/key-kinds.ts";
import { type Call, callOf, type Ground, groundOf, succeededOn } from "../access/requests.ts";
import { spoilt, spoiltKinds, strangersKey, withOtherEnd } from "../access/unknown-keys.ts";

/** What came of requests without a valid key. A request that was not sent any more is absent. */
export interface Strangers extends Tried {
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
const fewEndpoints = (kind: KeyKind): readonly EndpointName[] =>
  kind === "a key that is lengthened" ? ["health", "list"] : ["health"];
/** Where a key that is nearly good is tried by those who have few requests: one of each kind. */
const likelyEndpoints = ["health", "invoke", "list"] as const satisfies readonly EndpointName[];
/** So many requests a minute are a sign that some more cost little. */
const plentyPerMinute = 100;

/** After all that creates webhooks and operations, so that there is something to ask for. */
export const strangersAsked = probe(
  "every endpoint is asked without a key, with a wrong one, and with what comes close to a good one",
  { requests: 1, reads: true, lane: "limits", doesWithout: true },
  async (scene): Promise<Strangers> => {
    const { client, target, look, time } = scene;
    const { key } = client.key;
    // What is taken for the good key would meet its 429, and look like a refusal.
    if (time.canMove) await time.wait(runOutMs, "the key must have its allowance back");
    const ground = await groundOf(scene, "of-strangers");
    const asking = startAsking(client, ground, scene);
    const wrongKey = `Bearer ${strangersKey(key)}`;
    const wrong = await askEach(asking, "a wrong key", endpointNames, wrongKey);
    const missing = await askEach(asking, "no key", endpointNames, null);
    const allWrong = await asking.send(emptyInvoke(unknownAgentOf({ look, target })), wrongKey);
    // Where requests are dear, the one before shows the same.
    const keyAndBodyWrong =
      ground.agent === null || !isGenerous(scene) ? null : await asking.send(emptyInvoke(ground.agent), wrongKey);
    const closely = (kind: KeyKind, authorization: string, endpoints: readonly EndpointName[]): Promise<Cell[]> =>
      askCarefully(asking, kind, { authorization, endpoints, openAnyhow: openTo(wrong) });
    const keyAndBodyMissing: Exchange[] = [];
    for (const path of pathsOfBodies(isGenerous(scene) ? ground.agent : null)) {
      const refused = await asking.send({ method: "POST", path, options: { json: {} } }, null);
      if (refused !== null) keyAndBodyMissing.push(refused);
    }
    const closeOn = isGenerous(scene) ? endpointNames : likelyEndpoints;
    const close = await closely("a key with another last character", `Bearer ${withOtherEnd(key)}`, closeOn);
    const health = callOf.health(ground);
    const lowerCase = health === null ? null : await asking.send(health, `bearer ${key}`);
    for (const kind of spoiltKinds) {
      const authorization = spoilt[kind](key);
      const endpoints = isGenerous(scene) ? endpointNames : fewEndpoints(kind);
      if (authorization !== null) close.push(...(await closely(kind, authorization, endpoints)));
    }
    await controlDeliveries(scene, ground);
    const cells = [...wrong, ...missing, ...close];
    return { cells, lowerCase, allWrong, keyAndBodyWrong, keyAndBodyMissing };
  },
);

/** The positive control of what nothing else of a small run asks for; without the time for it, what was asked before is not lost. */
async function controlDeliveries(scene: Scene, ground: Ground): Promise<void> {
  const call = callOf.deliveries(ground);
  if (call === null || succeededOn(scene, "deliveries") !== undefined) return;
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

const emptyInvoke = (agent: string): Call => ({
  method: "POST",
  path: agentPath(agent, "invoke"),
  options: { json: {} },
});

const isGenerous = ({ target, client }: Scene): boolean =>
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
  asking: Asking,
  kind: KeyKind,
  { authorization, endpoints, openAnyhow }: Close,
): Promise<Cell[]> {
  const first = await askEach(asking, kind, ["health"], authorization);
  const letIn = [...openTo(first)].some((endpoint) => !openAnyhow.has(endpoint));
  if (letIn) return first;
  const rest = endpoints.filter((endpoint) => endpoint !== "health");
  return [...first, ...(await askEach(asking, kind, rest, authorization))];
}

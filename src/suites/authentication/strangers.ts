import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { agentPath, type Client } from "../../run/client.ts";
import { probe } from "../../run/probe.ts";
import { unknownAgentOf } from "../../run/unknown-agent.ts";
import { type Endpoint, endpoints } from "../answers/recorded.ts";

/** One kind of request, on each endpoint that was asked with it. */
export type AskedByEndpoint = Partial<Readonly<Record<Endpoint, Exchange>>>;

/** What came of requests without a valid key. A request that was not sent any more is absent. */
export interface Strangers {
  /** No `Authorization` header. */
  readonly missing: AskedByEndpoint;
  /** A key of the right shape that was never issued. */
  readonly wrong: AskedByEndpoint;
  /** The valid key but for its last character. */
  readonly lastCharacter: AskedByEndpoint;
  /** The valid key under another scheme than bearer. */
  readonly otherScheme: AskedByEndpoint;
  /** The valid key behind `bearer` in lower case, on health. */
  readonly lowerCase: Exchange | null;
  /** A wrong key, an agent that does not exist and no query, in one request. */
  readonly allWrong: Exchange | null;
  /** A wrong key and no query, to an agent that exists; `null` where none is known. */
  readonly keyAndBodyWrong: Exchange | null;
}

/** After so many 429s the address is left in peace. */
const mostLimited = 2;

/**
 * Asks one request after the other, so that they hold no slots. The valid key, or what is nearly it, is tried on health
 * first, which no limit counts: a server that lets it in is found out there, and the key's allowance stays untouched.
 */
export const strangersAsked = probe(
  "requests without a valid key are sent to every endpoint",
  { requests: 0 },
  async ({ client, target, look }): Promise<Strangers> => {
    const { key } = client.key;
    const unknownAgent = unknownAgentOf({ look, target });
    const agent = target.agents.answering ?? unknownAgent;
    const ask = asking(client, target.clock !== null);
    const everywhere = async (authorization: string | null, but: Endpoint | null = null): Promise<AskedByEndpoint> => {
      const asked: Partial<Record<Endpoint, Exchange>> = {};
      for (const endpoint of endpoints) {
        if (endpoint === but) continue;
        const exchange = await ask(endpoint, agent, authorization);
        if (exchange !== null) asked[endpoint] = exchange;
      }
      return asked;
    };
    const carefully = async (authorization: string): Promise<AskedByEndpoint> => {
      const health = await ask("health", agent, authorization);
      if (health === null) return {};
      return statusOf(health) === 401 ? { ...(await everywhere(authorization, "health")), health } : { health };
    };
    const wrong = await everywhere(`Bearer ${strangersKey(key)}`);
    const missing = await everywhere(null);
    const allWrong = await ask("invoke", unknownAgent, `Bearer ${strangersKey(key)}`, {});
    const keyAndBodyWrong =
      target.agents.answering === undefined ? null : await ask("invoke", agent, `Bearer ${strangersKey(key)}`, {});
    const lastCharacter = await carefully(`Bearer ${withOtherEnd(key)}`);
    const otherScheme = await carefully(`Basic ${key}`);
    const lowerCase = await ask("health", agent, `bearer ${key}`);
    return { missing, wrong, lastCharacter, otherScheme, lowerCase, allWrong, keyAndBodyWrong };
  },
);

const question = { query: "Hello." };

type Ask = (endpoint: Endpoint, agent: string, authorization: string | null, body?: object) => Promise<Exchange | null>;

/** @param canWait whether a 429 may be waited for: only where that takes no real time */
function asking(client: Client, canWait: boolean): Ask {
  let limited = 0;
  return async (endpoint, agent, authorization, body = question) => {
    if (limited >= mostLimited) return null;
    const options = { authorization, unpaced: !canWait };
    const exchange = await send(client, endpoint, agent, body, options);
    if (statusOf(exchange) === 429) limited += 1;
    return exchange;
  };
}

function send(
  client: Client,
  endpoint: Endpoint,
  agent: string,
  body: object,
  options: { readonly authorization: string | null; readonly unpaced: boolean },
): Promise<Exchange> {
  switch (endpoint) {
    case "invoke":
      return client.invoke(agent, body, options);
    case "stream":
      return client.send("POST", agentPath(agent, "stream"), {
        ...options,
        json: body,
        accept: "text/event-stream",
        enough: () => true,
      });
    case "health":
      return client.health(agent, options);
    case "list":
      return client.send("GET", "/agents?page=1&limit=2", options);
    case "usage":
      return client.send("GET", "/usage", options);
  }
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** A key that was never issued: as long as the real one, with the service's public prefix, and otherwise the same letters in every run. */
export function strangersKey(key: string): string {
  const prefix = /^[A-Za-z]{2}_/.exec(key)?.[0] ?? "";
  let state = 20_011;
  const next = (): string => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return letters[Math.floor((state / 2_147_483_648) * letters.length)] ?? "x";
  };
  return prefix + Array.from({ length: Math.max(8, key.length - prefix.length) }, next).join("");
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The key with another last character, which differs also where the key is base64 and the low bits of that character mean nothing. */
export function withOtherEnd(key: string): string {
  const last = key.slice(-1);
  const at = base64.indexOf(last);
  const isHexadecimal = /^[0-9a-f]{8,}$/.test(key.slice(-16));
  if (isHexadecimal) return key.slice(0, -1) + ((Number.parseInt(last, 16) + 8) % 16).toString(16);
  return key.slice(0, -1) + (at < 0 ? "A" : (base64[(at + 32) % 64] ?? "A"));
}

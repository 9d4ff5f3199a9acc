import { randomUUID } from "node:crypto";

import type { Exchange } from "../../evidence/exchange.ts";
import { defaultQuery, unknownAgentId } from "../../run/discovery/discover-target.ts";
import { agentPath } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { Target } from "../../target/target.ts";
import { combineFeatures, sendCombined } from "../shared/acceptance.ts";
import type { TimedExchange } from "../shared/durations.ts";
import { unicodeText } from "../shared/unicode-text.ts";
import { isSuccess } from "../shared/response.ts";
import { helloBody } from "../limits/exhaust.ts";

export interface Invoked extends TimedExchange {
  /** Whether the user named the agent. A named agent must answer, but a discovered agent is allowed to fail. */
  readonly promised: boolean;
}

/**
 * Asks the agent to repeat 40 words. The full response would need more than {@link fewTokens} tokens, the `max_tokens`
 * of the request.
 */
export const longQuery = `Please repeat these words: ${Array.from({ length: 40 }, (_, at) => `word${at + 1}`).join(" ")}`;
export const fewTokens = 16;

export const invoked = probe(
  "an agent is invoked",
  { needs: ["agents.answering"], requests: (target) => (hasFewRequests(target) ? 0 : 1) },
  async (context): Promise<Invoked> => {
    const { client, given, time, discovery, target } = context;
    const exchange =
      discovery.invoked ??
      findEarlierInvoke(context, helloBody) ??
      (await client.invoke(given["agents.answering"], { query: defaultQuery }));
    return { exchange, clockAfterMs: time.clockOffsetMs(), promised: target.agentSource !== "found" };
  },
);

const maxSlowMs = 35_000;

export const slowAgentInvoked = probe(
  "a slow agent is invoked",
  { needs: ["agents.slow"], requests: 1, stage: "agent time" },
  ({ client, given, time }): Promise<TimedExchange> => {
    const answered = client.invoke(given["agents.slow"], { query: defaultQuery });
    return time.awaitAgent(
      answered.then((exchange) => ({ exchange, clockAfterMs: time.clockOffsetMs() })),
      maxSlowMs,
    );
  },
);

const minValueFields = {
  temperature: { parameters: { temperature: 0 } },
  context: { parameters: { context: { user: { name: "Ada", tags: ["a", "b"] }, depth: 1 } } },
  unknownKeys: { parameters: { conformance_unknown: true, conformance_nested: { list: [1, null] } } },
  session: { session_id: "conformance-session" },
  scripts: { query: unicodeText },
} as const;

const maxValueFields = {
  temperature: { parameters: { temperature: 2 } },
  maxTokens: { parameters: { max_tokens: fewTokens } },
} as const;

export const minBody = combineFeatures(minValueFields, { query: defaultQuery });
export const maxBody = combineFeatures(maxValueFields, { query: longQuery });

export const invokedAtMin = probe(
  "an agent is invoked with temperature 0.0, context, unknown parameters, a session and a query of many scripts",
  { needs: ["agents.answering"], requests: requestsWithoutWebhooks },
  (context) => sendCombined(minValueFields, { query: defaultQuery }, (body) => invokeOnce(context, body), isSuccess),
);

export const invokedAtMax = probe(
  "an agent is invoked with temperature 2.0 and max_tokens",
  { needs: ["agents.answering"], requests: requestsWithoutWebhooks },
  (context) => sendCombined(maxValueFields, { query: longQuery }, (body) => invokeOnce(context, body), isSuccess),
);

function requestsWithoutWebhooks(target: Target): number {
  return hasFewRequests(target) && target.webhooks !== null ? 0 : 1;
}

const invokeOnce = async (context: ProbeContext<"agents.answering">, body: object): Promise<Exchange> =>
  findEarlierInvoke(context, body) ?? (await context.client.invoke(context.given["agents.answering"], body));

/**
 * Finds an earlier successful invoke with the same body, to save a request. Searches only if the main key's rate limit
 * is low.
 */
function findEarlierInvoke(
  { client, given, target, recorder }: ProbeContext<"agents.answering">,
  body: object,
): Exchange | undefined {
  if (!hasFewRequests(target)) return undefined;
  const path = agentPath(given["agents.answering"], "invoke");
  const text = JSON.stringify(body);
  return recorder
    .exchangesSinceOutage()
    .findLast(
      (each) =>
        each.key === client.key.name &&
        each.request.url.endsWith(path) &&
        each.request.body.kind === "text" &&
        each.request.body.text === text &&
        isSuccess(each),
    );
}

export const invokedWithoutQuery = probe(
  "an agent is invoked without a query, and without one in a session",
  { needs: ["agents.answering"], requests: (target) => (hasFewRequests(target) ? 1 : 2), executions: 0 },
  async ({ client, given, target }) => {
    const extraFields = { session_id: `conf-${randomUUID()}` };
    return {
      refused: await client.invoke(given["agents.answering"], {}),
      beside: hasFewRequests(target) ? null : await client.invoke(given["agents.answering"], extraFields),
    };
  },
);

export const invokedUnknownAgent = probe(
  "an agent that does not exist is invoked",
  { requests: 1 },
  async (context) => ({
    refused: await context.client.invoke(unknownAgentId(context), { query: defaultQuery }),
  }),
);

export const invokedWithNumber = probe(
  "an agent is invoked with a query that is a number",
  { needs: ["agents.answering"], requests: 1 },
  async ({ client, given }) => ({ answered: await client.invoke(given["agents.answering"], { query: 42 }) }),
);

export const sessionHeld = probe(
  "an agent is told a word in a session and asked for it twice there, and in another session",
  { needs: ["agents.remembering"], requests: (target) => (hasFewRequests(target) ? 4 : 8) },
  async ({ client, given, target }) => {
    const agent = given["agents.remembering"];
    const newMarker = (): string => `mark-${randomUUID().slice(0, 8)}`;
    const [word, marker] = [`word-${randomUUID().slice(0, 8)}`, newMarker()];
    const [session, other] = [`conf-${randomUUID()}`, `conf-${randomUUID()}`];
    const query = "Which word did I tell you before?";
    const ask = (text: string, id: string): Promise<Exchange> =>
      client.invoke(agent, { query: text, session_id: id }, { noRetry: true });
    const told = await ask(`Please remember this: ${word}`, session);
    const exchange = await ask(`${query} (${marker})`, session);
    const third = newMarker();
    const again = await ask(`${query} (${third})`, session);
    const elsewhere = await ask(query, other);
    if (hasFewRequests(target))
      return { word, marker, told, asked: exchange, again, elsewhere, withoutQuery: null, acrossStream: null };
    const withoutQuery = await client.invoke(agent, { session_id: session });
    const [before, within] = [newMarker(), newMarker()];
    const invokedBefore = await ask(`${query} (${before})`, session);
    const stream = await client.stream(
      agent,
      { query: `${query} (${within})`, session_id: session },
      { noRetry: true },
    );
    const invokedAfter = await ask(query, session);
    const acrossStream = { said: [word, marker, third, before, within], invokedBefore, stream, invokedAfter };
    return { word, marker, told, asked: exchange, again, elsewhere, withoutQuery, acrossStream };
  },
);

export const invokedOutOfRange = probe(
  "an agent is invoked with parameters out of their range",
  { needs: ["agents.answering"], requests: 2 },
  async ({ client, given }) => {
    const send = (parameters: object) => client.invoke(given["agents.answering"], { query: defaultQuery, parameters });
    return { temperature: await send({ temperature: 2.5 }), maxTokens: await send({ max_tokens: -1 }) };
  },
);

export const invokedWithEmptyQuery = probe(
  "an agent is invoked with an empty query",
  { needs: ["agents.answering"], requests: 1 },
  async ({ client, given }) => ({ answered: await client.invoke(given["agents.answering"], { query: "" }) }),
);

export const failingInvoked = probe(
  "an agent that fails is invoked",
  { needs: ["agents.failing"], requests: 1 },
  async ({ client, given }) => ({ failed: await client.invoke(given["agents.failing"], { query: "Hello." }) }),
);

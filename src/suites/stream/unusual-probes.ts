import { randomUUID } from "node:crypto";

import type { Exchange } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { type CombinedResult, sendCombined } from "../shared/acceptance.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import { isRequestRole, type RoleAssignment, roleAssignmentOf, type Target } from "../../target/target.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";
import { isSuccess } from "../shared/response.ts";
import { isStreamAccepted } from "./events.ts";
import type { TimedExchange } from "../shared/durations.ts";
import { maxSlowMs } from "./probes.ts";

const since = "1.2";

/** Parameter names that a server can misinterpret, e.g. `$where` as a database operator. */
const unusualKeys = {
  $where: "1",
  "a.b": 1e300,
  "": null,
  "ключ 🙂": "Grüße",
  query: "Other.",
  session_id: "other",
  agent_id: "other",
  self: 1,
};
const unusualContext = { $gt: "", "a.b": [1.5, null, {}], "": null, имя: "🙂 你好" };

/** JSON with unusual line ends, and with characters that templates and SQL interpret. */
const unusualQuery = '{"It\'s": "100%s of {{name}} ${x}",\r\n"b": 4242424242, "c": "\u2028\u0085end."}';

/** Characters of two to four bytes. A server that cuts text by bytes would split a character. */
const longWord = "ж世🙂é".repeat(40);

/** A query of over a thousand tokens. A server may write counts of this size with a separator, e.g. `1,100`. */
const longQuery = `${longWord} ${"a ".repeat(1100)}`;

/** A query that some languages treat as false, so that a server may take it for an absent query. */
const zeroQuery = "0";

const newSession = (): string => `conf-${randomUUID()}`;

const features = () => ({
  keys: { parameters: unusualKeys },
  context: { parameters: { context: unusualContext } },
  marks: { query: unusualQuery },
  session: { session_id: newSession() },
});

export const unusualEntry = (mark: string) => ({
  query: `Grüße, 你好 🙂 ${mark}`,
  session_id: newSession(),
  parameters: { ...unusualKeys, context: unusualContext, temperature: 0.35, max_tokens: 1000 },
});

export interface UnusualBodies<F extends string> {
  readonly tried: CombinedResult<F>;
  readonly nul: Exchange;
  readonly zero: Exchange;
  readonly long?: Exchange;
}

type Send = (body: object) => Promise<Exchange>;

async function sendTexts(send: Send) {
  const nul = await send({ query: "Before\0after", session_id: newSession() });
  const zero = await send({ query: zeroQuery });
  const long = await send({ query: longQuery });
  return { nul, zero, long };
}

export const unusualInvoke = probeIfManyRequests(
  "an agent is invoked with unusual names and values in the body",
  { needs: ["agents.answering"], requests: 6, since },
  async ({ client, given }): Promise<UnusualBodies<"keys" | "context" | "marks" | "session" | "temperature">> => {
    const send = (body: object, options: SendOptions = {}) => client.invoke(given["agents.answering"], body, options);
    const all = { ...features(), temperature: { parameters: { temperature: 0.35 } } };
    const tried = await sendCombined(all, { query: defaultQuery }, send, isSuccess);
    const texts = await sendTexts(send);
    // The server is allowed to accept or reject the next two requests. Checks of all exchanges judge the responses.
    await send({ query: defaultQuery, parameters: { temperature: 2.5, max_tokens: -1 } });
    await send({ query: "Grüße" }, { encoding: "latin1" });
    return { tried, ...texts };
  },
);

/** Parameters that make a stream long enough to show whether `execution_time` is in seconds or milliseconds. */
const slowingParameters = { stream_delay_ms: 50, chunk_size: 3 };

interface UnusualStream extends UnusualBodies<"keys" | "context" | "marks" | "session" | "temperature" | "slowing"> {
  readonly clockAfterMs: number;
}

export const unusualStream = probeIfManyRequests(
  "an agent streams with unusual names and values in the body",
  { needs: ["agents.streaming"], requests: 4, stage: "agent time", since },
  async ({ client, given, time }): Promise<UnusualStream> => {
    const clocksMs: number[] = [];
    const send: Send = (body) => {
      const streamed = client.stream(given["agents.streaming"], body);
      void streamed.then(
        () => clocksMs.push(time.maxClockOffsetMs()),
        () => {},
      );
      return time.awaitAgent(streamed, maxSlowMs);
    };
    const own = { temperature: { parameters: { temperature: 1.85 } }, slowing: { parameters: slowingParameters } };
    const tried = await sendCombined({ ...features(), ...own }, { query: defaultQuery }, send, isStreamAccepted);
    return { tried, ...(await sendTexts(send)), clockAfterMs: clocksMs[0] ?? Infinity };
  },
);

export const slowInvokeWithEveryField = probeIfManyRequests(
  "a slow agent is invoked with every documented field, and an empty context",
  { needs: ["agents.slow"], requests: 1, stage: "agent time", since },
  async ({ client, given, time }): Promise<TimedExchange> => {
    const parameters = { temperature: 0.7, max_tokens: 1000, context: {} };
    const body = { query: defaultQuery, session_id: newSession(), parameters };
    const answered = client.invoke(given["agents.slow"], body);
    return time.awaitAgent(
      answered.then((exchange) => ({ exchange, clockAfterMs: time.maxClockOffsetMs() })),
      maxSlowMs,
    );
  },
);

const roles = {
  invoke: ["failing", "degraded", "unhealthy", "remembering"],
  stream: ["failingInStream", "overloaded", "slowStreaming"],
} as const;

interface RoleCall {
  readonly endpoint: "invoke" | "stream";
  readonly who: RoleAssignment;
}

function callsOfRoles(target: Target): readonly RoleCall[] {
  if (hasFewRequests(target)) return [];
  const callsOf = (endpoint: "invoke" | "stream"): RoleCall[] =>
    roles[endpoint].flatMap((role) => {
      const agent = target.agents[role];
      const plain = agent === undefined ? null : { agent, body: {}, path: null };
      const who = isRequestRole(role) ? roleAssignmentOf(target, role) : plain;
      return who === null ? [] : [{ endpoint, who }];
    });
  return [...callsOf("invoke"), ...callsOf("stream")];
}

const countOfRoles = (target: Target): number => callsOfRoles(target).length;

/**
 * Sends requests with many optional fields to agents with special roles, e.g. `failing`. Checks that judge all
 * responses judge these responses, too.
 */
export const rolesWithEveryField = probe(
  "agents of other roles are called with every documented field",
  { needs: ["agents.answering"], requests: countOfRoles, executions: countOfRoles, stage: "agent time", since },
  async ({ client, target, time }): Promise<{ readonly sent: number }> => {
    const parameters = { temperature: 0.7, max_tokens: 9, context: { user: { name: "Ada" } } };
    const calls = callsOfRoles(target);
    for (const { endpoint, who } of calls) {
      const streamParameters = endpoint === "stream" ? { stream_delay_ms: 50, chunk_size: 8 } : {};
      const body = {
        query: defaultQuery,
        session_id: newSession(),
        parameters: { ...parameters, ...streamParameters },
      };
      await time.awaitAgent(client[endpoint](who, body), maxSlowMs);
    }
    return { sent: calls.length };
  },
);

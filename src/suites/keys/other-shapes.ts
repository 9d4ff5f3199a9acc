import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { resolveKey } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { acceptingEndpoints } from "../shared/key-requests/key-checks.ts";
import {
  createRequestSender,
  exchangeOn,
  type RejectedKeyRequest,
  type KeyRequests,
  prepareFixtures,
  requestFor,
  type RequestSender,
} from "../shared/key-requests/send-requests.ts";
import { outcomeOf, wasRejected } from "../shared/response.ts";
import { oneAgentKeyTried, otherAgent, readOnlyKeyTried } from "./probes.ts";

// This file tests whether a key's restriction also holds if a request omits or adds body fields.

const since = "1.2";

type Body = Readonly<Record<string, unknown>>;

interface Shape {
  readonly endpoint: EndpointName;
  readonly name: string;
  readonly change: (body: Body) => Body;
}

const without =
  (...fields: readonly string[]) =>
  (body: Body): Body =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !fields.includes(name)));

const addFields = (body: Body): Body => ({
  ...body,
  session_id: "conformance-session",
  parameters: { temperature: 0.7, max_tokens: 1000, context: { user: "Ada" }, conformance_unknown: true },
});

const everyField = "with every optional field";

const executions: readonly Shape[] = [
  { endpoint: "invoke", name: everyField, change: addFields },
  { endpoint: "stream", name: everyField, change: addFields },
  { endpoint: "batch", name: everyField, change: () => ({ batch: [addFields({ query: "Hello." })] }) },
];

const agentWebhooks: readonly Shape[] = [
  { endpoint: "webhooks", name: "without `secret`", change: without("secret") },
  { endpoint: "webhooks", name: "with a wildcard", change: (body) => ({ ...body, events: ["agent.*"] }) },
];

const shapes = {
  "a read-only key": [
    { endpoint: "webhooks", name: "without `agent_id`", change: without("agent_id") },
    { endpoint: "webhooks", name: "without `agent_id` and `secret`", change: without("agent_id", "secret") },
    ...agentWebhooks,
    { endpoint: "alerts", name: "without `type`", change: without("type") },
    { endpoint: "alerts", name: "without `threshold`", change: without("threshold") },
    { endpoint: "alerts", name: "without `webhook_url`", change: without("webhook_url") },
    ...executions,
  ],
  "a key of another agent": [...agentWebhooks, ...executions],
} as const satisfies Partial<Record<RejectedKeyKind, readonly Shape[]>>;

type Kind = keyof typeof shapes;

interface ShapeRequest extends RejectedKeyRequest {
  readonly kind: Kind;
  readonly shape: string;
}

interface ShapesTried {
  readonly requests: readonly ShapeRequest[];
}

const otherShapesTried = probe(
  "restricted keys write without optional fields, and with all of them",
  { requests: 0, stage: "coverage", since },
  async (context): Promise<ShapesTried> => {
    const { answering } = context.target.agents;
    const oneAgent = resolveKey("keys.oneAgent", context.target);
    return {
      requests: [
        ...(await tryShapes(context, "a read-only key", answering)),
        ...(await tryShapes(context, "a key of another agent", otherAgent(context, oneAgent?.agents ?? []))),
      ],
    };
  },
);

const needOf = { "a read-only key": "keys.readOnly", "a key of another agent": "keys.oneAgent" } as const;

async function tryShapes(context: ProbeContext, kind: Kind, agent: string | undefined): Promise<ShapeRequest[]> {
  const key = resolveKey(needOf[kind], context.target);
  if (key === null || agent === undefined) return [];
  const fixtures = await prepareFixtures(context, `of-${kind.replaceAll(" ", "-")}-in-other-shapes`);
  // A batch path without `{agent_id}` names no agent. A key that is restricted to one agent is allowed to use this
  // path.
  const usesBatch = kind === "a read-only key" || fixtures.batchPath?.includes("{agent_id}") === true;
  const sender = createRequestSender(
    context.client.as(key),
    {
      ...fixtures,
      agent,
      webhook: fixtures.webhook && { ...fixtures.webhook, agent_id: agent },
      batchPath: usesBatch ? fixtures.batchPath : null,
    },
    context,
  );
  const requests: ShapeRequest[] = [];
  for (const shape of shapes[kind]) {
    // Stops after the key's first accepted invoke. Further requests would only use up tokens.
    if (acceptingEndpoints(requests).has("invoke")) break;
    const exchange = await sendShape(sender, shape);
    if (exchange !== null) requests.push({ kind, endpoint: shape.endpoint, exchange, shape: shape.name });
  }
  return requests;
}

async function sendShape({ fixtures, send }: RequestSender, { endpoint, change }: Shape): Promise<Exchange | null> {
  const request = requestFor[endpoint](fixtures);
  const json = request?.options.json;
  return request === null || json === undefined
    ? null
    : send({ ...request, options: { ...request.options, json: change({ ...json }) } });
}

function judgeShapes(kind: Kind, { requests }: ShapesTried, isRejected: (endpoint: EndpointName) => boolean) {
  const judged = requests.filter((each) => each.kind === kind && isRejected(each.endpoint));
  if (judged.length === 0) return inapplicable(`${kind} was not tried, or is not refused in the usual requests`);
  const accepted = judged.find((each) => acceptingEndpoints([each]).size > 0);
  if (accepted !== undefined) {
    const { endpoint, shape, exchange } = accepted;
    return breach(`${kind} is refused on ${endpoint} ${shape}, as it is usually`, outcomeOf(exchange), exchange);
  }
  return judged.some(({ exchange }) => wasRejected(exchange))
    ? holds()
    : unproven("no request was accepted or rejected");
}

const options = { as: "other shapes", since } as const;

const isRejectedIn = (sent: KeyRequests, endpoint: EndpointName): boolean => wasRejected(exchangeOn(sent, endpoint));

export const shapeChecks: readonly Check[] = [
  check(
    "KEY-5",
    { tried: otherShapesTried, reader: readOnlyKeyTried },
    ({ tried, reader }): Finding<never> =>
      judgeShapes("a read-only key", tried, (endpoint) =>
        endpoint === "invoke" ? wasRejected(reader.invoked) : isRejectedIn(reader, endpoint),
      ),
    options,
  ),
  check(
    "KEY-6",
    { tried: otherShapesTried, agents: oneAgentKeyTried },
    ({ tried, agents: { other } }): Finding<never> =>
      judgeShapes("a key of another agent", tried, (endpoint) => other !== null && isRejectedIn(other, endpoint)),
    options,
  ),
];

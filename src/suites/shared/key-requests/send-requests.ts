import { encodedSegment } from "../../../base/http.ts";
import type { Exchange } from "../../../evidence/exchange.ts";
import type { ProbeContext } from "../../../run/probe.ts";
import { agentPath, type Client } from "../../../run/send/client.ts";
import type { SendOptions } from "../../../run/send/send-guard.ts";
import { endpointOfRequest, type EndpointName } from "../../../spec/endpoints.ts";
import type { RejectedKeyKind } from "../../../spec/dimensions.ts";
import { fillAgentId, handleOf } from "../../operations/probes.ts";
import { webhookIdOf, webhookPath } from "../../webhooks/create-webhook.ts";
import { hasStatus, isSuccess } from "../response.ts";
import { generateSecret } from "../../../evidence/secret.ts";
import { type Receiver, ReceiverError } from "../../../receiver/receiver.ts";
import type { Target } from "../../../target/target.ts";

/**
 * Opens a URL at the receiver. Returns a request body that creates a webhook for it. The webhook should get no
 * deliveries: it selects only `deployment.deleted`, and the run never deletes the agent with the role `answering`.
 */
export function idleWebhook(receiver: Receiver, { agents }: Target, name: string) {
  const { url } = receiver.open(name, { secret: null, replies: [{ kind: "status", status: 204 }] });
  const secret = generateSecret();
  const { answering } = agents;
  return { url, events: ["deployment.deleted"], secret, ...(answering === undefined ? {} : { agent_id: answering }) };
}

/** Values that valid requests need, such as an agent id or the body for a webhook. `null`: the run has none. */
export interface Fixtures {
  readonly agent: string | null;
  readonly webhook: ReturnType<typeof idleWebhook> | null;
  readonly webhookId: string | null;
  readonly operationId: string | null;
  readonly batchPath: string | null;
}

/** Returns the fixtures that are known without a request: the agent and the path of a batch. */
export const knownFixtures = ({ agents, paths }: Target): Fixtures => ({
  agent: agents.answering ?? null,
  webhook: null,
  webhookId: null,
  operationId: null,
  batchPath: paths.batch,
});

export async function prepareFixtures(context: ProbeContext, name: string): Promise<Fixtures> {
  const { target } = context;
  const receiver = await receiverOf(context);
  const created = firstSuccessOn(context, "webhooks");
  const started = firstSuccessOn(context, "batch") ?? startedOperation(context);
  const operationId = started === undefined ? undefined : handleOf(started).operationId;
  return {
    ...knownFixtures(target),
    webhook: receiver === null ? null : idleWebhook(receiver, target, name),
    webhookId: created === undefined ? null : webhookIdOf(created),
    operationId: typeof operationId === "string" ? operationId : null,
  };
}

function startedOperation({
  client,
  recorder,
  target: { paths, agents, baseUrl },
}: ProbeContext): Exchange | undefined {
  const { operation } = paths;
  if (operation === null || agents.answering === undefined) return undefined;
  const url = baseUrl + fillAgentId(operation, agents.answering);
  return recorder
    .exchangesSinceOutage()
    .find((each) => each.key === client.key.name && each.request.url === url && isSuccess(each));
}

async function receiverOf({ target, readOnly, receiver }: ProbeContext): Promise<Receiver | null> {
  if (target.webhooks === null || readOnly) return null;
  try {
    return await receiver();
  } catch (error) {
    if (error instanceof ReceiverError) return null;
    throw error;
  }
}

/** Returns the requests with the client's key that an endpoint has accepted. */
export const successesOn = ({ client, recorder, target }: ProbeContext, endpoint: EndpointName): Exchange[] =>
  recorder
    .exchangesSinceOutage()
    .filter(
      (each) =>
        each.key === client.key.name &&
        isSuccess(each) &&
        endpointOfRequest(each.request.method, each.request.url, target.paths)?.endpoint === endpoint,
    );

export const firstSuccessOn = (context: ProbeContext, endpoint: EndpointName): Exchange | undefined =>
  successesOn(context, endpoint)[0];

export interface RejectedKeyRequest {
  readonly kind: RejectedKeyKind;
  readonly endpoint: EndpointName;
  readonly exchange: Exchange;
}

export interface KeyRequests {
  readonly requests: readonly RejectedKeyRequest[];
}

export const exchangeOn = (
  { requests }: KeyRequests,
  endpoint: EndpointName,
  kind?: RejectedKeyKind,
): Exchange | null =>
  requests.find((each) => each.endpoint === endpoint && (kind === undefined || each.kind === kind))?.exchange ?? null;

export interface EndpointRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly options: SendOptions;
}

const helloBody = { query: "Hello." } as const;

const get = (path: string): EndpointRequest => ({ method: "GET", path, options: {} });

const post = (path: string, json: object, options: SendOptions = {}): EndpointRequest => ({
  method: "POST",
  path,
  options: { json, ...options },
});

const withFixture = <T>(fixture: T | null, request: (fixture: T) => EndpointRequest | null): EndpointRequest | null =>
  fixture === null ? null : request(fixture);

export const requestFor: Readonly<Record<EndpointName, (fixtures: Fixtures) => EndpointRequest | null>> = {
  invoke: ({ agent }) => withFixture(agent, (id) => post(agentPath(id, "invoke"), helloBody)),
  stream: ({ agent }) => withFixture(agent, (id) => post(agentPath(id, "stream"), helloBody, streamOptions)),
  health: ({ agent }) => withFixture(agent, (id) => get(agentPath(id, "health"))),
  list: () => get("/agents?page=1&limit=2"),
  usage: () => get("/usage"),
  webhooks: ({ webhook }) => withFixture(webhook, (body) => post("/webhooks", body)),
  deliveries: ({ webhookId }) => withFixture(webhookId, (id) => get(webhookPath(id, "/deliveries"))),
  alerts: ({ webhook }) =>
    withFixture(webhook, ({ url }) => post("/alerts", { type: "rate_limit", threshold: 99, webhook_url: url })),
  keyUsage: () => get("/keys/usage"),
  operations: ({ operationId }) => withFixture(operationId, (id) => get(`/operations/${encodedSegment(id)}`)),
  batch: ({ batchPath, agent }) =>
    withFixture(batchPath, (path) => withFixture(agent, (id) => post(fillAgentId(path, id), { batch: [helloBody] }))),
};

/** Reads until an event other than `start` arrives. This event shows whether the server accepted the key. */
const streamOptions: SendOptions = {
  accept: "text/event-stream",
  closeWhen: (events) => events.some(({ name }) => name !== "start"),
};

/** A sender stops after this many 429 responses, because the server may limit the client's address. */
const maxLimited = 2;

export interface RequestSender {
  readonly fixtures: Fixtures;
  readonly send: (request: EndpointRequest, authorization?: string | null) => Promise<Exchange | null>;
}

/** Creates a sender for one probe. The sender waits for rate limits only if the target has a test clock. */
export function createRequestSender(
  client: Client,
  fixtures: Fixtures,
  { target, readOnly }: ProbeContext,
): RequestSender {
  let limited = 0;
  return {
    fixtures,
    send: async ({ method, path, options }, authorization) => {
      if (limited >= maxLimited || (readOnly && method !== "GET")) return null;
      const exchange = await client.send(method, path, {
        ...options,
        unpaced: target.clock === null,
        ...(authorization === undefined ? {} : { authorization }),
      });
      if (hasStatus(exchange, 429)) limited += 1;
      return exchange;
    },
  };
}

/** Sends the requests one after the other, so that no concurrency limit rejects them. */
export async function sendToEndpoints(
  { fixtures, send }: RequestSender,
  kind: RejectedKeyKind,
  endpoints: readonly EndpointName[],
  authorization?: string | null,
): Promise<RejectedKeyRequest[]> {
  const requests: RejectedKeyRequest[] = [];
  for (const endpoint of endpoints) {
    const request = requestFor[endpoint](fixtures);
    const exchange = request === null ? null : await send(request, authorization);
    if (exchange !== null) requests.push({ kind, endpoint, exchange });
  }
  return requests;
}

/** Percent-encodes an id's first letter or digit, which is legal (RFC 3986, 6.2.2.2). `null` for other characters. */
export const encodeFirstCharacter = (agent: string): string | null =>
  /^[A-Za-z0-9]/.test(agent)
    ? `%${(agent.codePointAt(0) ?? 0).toString(16).toUpperCase()}${encodedSegment(agent.slice(1))}`
    : null;

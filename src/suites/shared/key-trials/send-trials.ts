import { encodedSegment } from "../../../base/path-segment.ts";
import type { Exchange } from "../../../evidence/exchange.ts";
import type { ProbeContext } from "../../../run/probe.ts";
import { agentPath, type Client, type SendOptions } from "../../../run/send/client.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import type { RejectedKeyKind } from "../../../spec/rejected-key-kinds.ts";
import { fillAgentId } from "../../operations/probes.ts";
import { webhookPath } from "../../webhooks/create-webhook.ts";
import { hasStatus } from "../response.ts";
import type { Fixtures } from "./fixtures.ts";

/** A request with an invalid key to one endpoint, and its response. */
export interface KeyTrial {
  readonly kind: RejectedKeyKind;
  readonly endpoint: EndpointName;
  readonly exchange: Exchange;
}

export interface KeyTrials {
  readonly cells: readonly KeyTrial[];
}

/** A request to an endpoint that succeeds with a valid key. */
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

/** Builds a request that names an existing resource. Returns `null` if there is no such resource. */
const withFixture = <T>(fixture: T | null, request: (fixture: T) => EndpointRequest | null): EndpointRequest | null =>
  fixture === null ? null : request(fixture);

/** Functions that build a valid request to each endpoint. `null` if a resource that the request needs is missing. */
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

/** Options of a stream that is closed after its second event, which shows whether the server accepted the key. */
const streamOptions: SendOptions = {
  accept: "text/event-stream",
  closeWhen: (events) => events.some(({ name }) => name !== "start"),
};

/** Number of 429 responses after which a sender stops, because the server may be limiting the client's address. */
const maxLimited = 2;

export interface TrialSender {
  readonly fixtures: Fixtures;
  /** Sends a request with the client's key or with `authorization`. `null` if the request may not be sent. */
  readonly send: (request: EndpointRequest, authorization?: string | null) => Promise<Exchange | null>;
}

/** Creates the sender of one probe. It waits for rate limits only with a test clock. */
export function createTrialSender(client: Client, fixtures: Fixtures, { target, readOnly }: ProbeContext): TrialSender {
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

/** Sends a request to each endpoint, one after the other, so that no concurrency limit rejects them. */
export async function sendTrials(
  { fixtures, send }: TrialSender,
  kind: RejectedKeyKind,
  endpoints: readonly EndpointName[],
  authorization?: string | null,
): Promise<KeyTrial[]> {
  const trials: KeyTrial[] = [];
  for (const endpoint of endpoints) {
    const request = requestFor[endpoint](fixtures);
    const exchange = request === null ? null : await send(request, authorization);
    if (exchange !== null) trials.push({ kind, endpoint, exchange });
  }
  return trials;
}

import { encodedSegment } from "../../../base/path-segment.ts";
import type { Exchange } from "../../../evidence/exchange.ts";
import { generateSecret } from "../../../evidence/new-secret.ts";
import { endpointCalled, type EndpointName } from "../../../spec/endpoints.ts";
import { type Receiver, ReceiverProblem } from "../../../receiver/receiver.ts";
import { agentPath, type SendOptions } from "../../../run/send/client.ts";
import type { ProbeContext } from "../../../run/probe.ts";
import type { Target } from "../../../target/target.ts";
import { isSuccess } from "../response.ts";
import { handleOf, fillAgentId } from "../../operations/probes.ts";
import { webhookIdOf, webhookPath } from "../../webhooks/create-webhook.ts";

/** A webhook of an event that nothing in a run causes, so that nothing is ever sent to it. The receiver takes a name once. */
export function idleWebhook(receiver: Receiver, { agents }: Target, name: string) {
  const { url } = receiver.open(name, { secret: null, replies: [{ kind: "status", status: 204 }] });
  const secret = generateSecret();
  const { answering } = agents;
  return { url, events: ["deployment.deleted"], secret, ...(answering === undefined ? {} : { agent_id: answering }) };
}

type QuietWebhook = ReturnType<typeof idleWebhook>;

/**
 * What the requests of a probe are about: things that are there, so that nothing but the key is a reason to refuse them. `null` where
 * the target has none, or the run may not create one.
 */
export interface Fixtures {
  readonly agent: string | null;
  readonly webhook: QuietWebhook | null;
  /** Of a webhook that the main key has created. */
  readonly webhookId: string | null;
  /** Of an operation that the main key has started. */
  readonly operationId: string | null;
  readonly batchPath: string | null;
}

/** @param name tells the probe's address at the receiver from others */
export async function prepareFixtures(scene: ProbeContext, name: string): Promise<Fixtures> {
  const { target } = scene;
  const receiver = await receiverOf(scene);
  const created = firstSuccessOn(scene, "webhooks");
  const started = firstSuccessOn(scene, "batch") ?? startedIn(scene);
  const operationId = started === undefined ? undefined : handleOf(started).operationId;
  return {
    agent: target.agents.answering ?? null,
    webhook: receiver === null ? null : idleWebhook(receiver, target, name),
    webhookId: created === undefined ? null : webhookIdOf(created),
    operationId: typeof operationId === "string" ? operationId : null,
    batchPath: target.paths.batch,
  };
}

/** An operation that the main key has started at a path of its own. */
function startedIn({ client, recorder, target: { paths, agents, baseUrl } }: ProbeContext): Exchange | undefined {
  const { operation } = paths;
  if (operation === null || agents.answering === undefined) return undefined;
  const url = baseUrl + fillAgentId(operation, agents.answering);
  return recorder
    .exchanges()
    .find((each) => each.key === client.key.name && each.request.url === url && isSuccess(each));
}

async function receiverOf({ target, readOnly, receiver }: ProbeContext): Promise<Receiver | null> {
  if (target.webhooks === null || readOnly) return null;
  try {
    return await receiver();
  } catch (error) {
    if (error instanceof ReceiverProblem) return null;
    throw error;
  }
}

/** The first success that the main key has had on an endpoint. */
export const firstSuccessOn = (
  { client, recorder, target }: ProbeContext,
  endpoint: EndpointName,
): Exchange | undefined =>
  recorder
    .exchanges()
    .find(
      (each) =>
        each.key === client.key.name &&
        isSuccess(each) &&
        endpointCalled(each.request.method, each.request.url, target.paths)?.endpoint === endpoint,
    );

/** A request that succeeds with a good key. */
export interface EndpointRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly options: SendOptions;
}

const question = { query: "Hello." } as const;
const get = (path: string): EndpointRequest => ({ method: "GET", path, options: {} });
const post = (path: string, json: object, options: SendOptions = {}): EndpointRequest => ({
  method: "POST",
  path,
  options: { json, ...options },
});

/** The call that something makes possible; `null` where it is not there. */
const given = <T>(what: T | null, call: (what: T) => EndpointRequest | null): EndpointRequest | null =>
  what === null ? null : call(what);

/** How each published endpoint is asked; `null` where the ground lacks what that takes. */
export const requestFor: Readonly<Record<EndpointName, (ground: Fixtures) => EndpointRequest | null>> = {
  invoke: ({ agent }) => given(agent, (id) => post(agentPath(id, "invoke"), question)),
  stream: ({ agent }) => given(agent, (id) => post(agentPath(id, "stream"), question, streaming)),
  health: ({ agent }) => given(agent, (id) => get(agentPath(id, "health"))),
  list: () => get("/agents?page=1&limit=2"),
  usage: () => get("/usage"),
  webhooks: ({ webhook }) => given(webhook, (body) => post("/webhooks", body)),
  deliveries: ({ webhookId }) => given(webhookId, (id) => get(webhookPath(id, "/deliveries"))),
  alerts: ({ webhook }) =>
    given(webhook, ({ url }) => post("/alerts", { type: "rate_limit", threshold: 99, webhook_url: url })),
  keyUsage: () => get("/keys/usage"),
  operations: ({ operationId }) => given(operationId, (id) => get(`/operations/${encodedSegment(id)}`)),
  batch: ({ batchPath, agent }) =>
    given(batchPath, (path) => given(agent, (id) => post(fillAgentId(path, id), { batch: [question] }))),
};

/** A stream that is let in is closed as soon as it says more than that it has begun. */
const streaming: SendOptions = {
  accept: "text/event-stream",
  closeWhen: (events) => events.some(({ name }) => name !== "start"),
};

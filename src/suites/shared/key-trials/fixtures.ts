import type { Exchange } from "../../../evidence/exchange.ts";
import { generateSecret } from "../../../evidence/secret.ts";
import { type Receiver, ReceiverError } from "../../../receiver/receiver.ts";
import type { ProbeContext } from "../../../run/probe.ts";
import { endpointCalled, type EndpointName } from "../../../spec/endpoints.ts";
import type { Target } from "../../../target/target.ts";
import { fillAgentId, handleOf } from "../../operations/probes.ts";
import { webhookIdOf } from "../../webhooks/create-webhook.ts";
import { isSuccess } from "../response.ts";

/** Returns the body of a webhook that gets no deliveries: no run causes `deployment.deleted`. */
export function idleWebhook(receiver: Receiver, { agents }: Target, name: string) {
  const { url } = receiver.open(name, { secret: null, replies: [{ kind: "status", status: 204 }] });
  const secret = generateSecret();
  const { answering } = agents;
  return { url, events: ["deployment.deleted"], secret, ...(answering === undefined ? {} : { agent_id: answering }) };
}

/** Existing resources, so that only the key can be wrong in a request. `null` for a resource that the run lacks. */
export interface Fixtures {
  readonly agent: string | null;
  /** The body of a request that creates a webhook. */
  readonly webhook: ReturnType<typeof idleWebhook> | null;
  /** The id of a webhook that the main key created. */
  readonly webhookId: string | null;
  /** The id of an operation that the main key started. */
  readonly operationId: string | null;
  readonly batchPath: string | null;
}

/** Collects the resources that the run has created so far, and opens an address of the receiver. */
export async function prepareFixtures(context: ProbeContext, name: string): Promise<Fixtures> {
  const { target } = context;
  const receiver = await receiverOf(context);
  const created = firstSuccessOn(context, "webhooks");
  const started = firstSuccessOn(context, "batch") ?? startedOperation(context);
  const operationId = started === undefined ? undefined : handleOf(started).operationId;
  return {
    agent: target.agents.answering ?? null,
    webhook: receiver === null ? null : idleWebhook(receiver, target, name),
    webhookId: created === undefined ? null : webhookIdOf(created),
    operationId: typeof operationId === "string" ? operationId : null,
    batchPath: target.paths.batch,
  };
}

/** Finds a successful request with the main key that started an operation at the target file's path. */
function startedOperation({
  client,
  recorder,
  target: { paths, agents, baseUrl },
}: ProbeContext): Exchange | undefined {
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
    if (error instanceof ReceiverError) return null;
    throw error;
  }
}

/** Finds the first successful request with the main key to an endpoint. */
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

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { tryParseJson } from "../../../base/json.ts";
import { listenOnLoopback } from "../../../base/network/network.ts";
import { type DeliveryBehaviour, standardDeliveries } from "../../behaviour/deliveries.ts";
import { virtualClock, type VirtualClock, virtualEpochMs } from "../../clock.ts";
import { fieldsOf } from "../../json-edit.ts";
import { addressGuard, type GuardOptions } from "../address-guard.ts";
import { outbox, type Outbox } from "../outbox.ts";
import { type HostingEvent, memoryStore, type NewWebhook, type Store } from "../store.ts";

/** An outbox on a virtual clock, for one test. */
interface OutboxFixture {
  readonly clock: VirtualClock;
  readonly outbox: Outbox;
  /** Starts a receiver on loopback with these reactions. */
  readonly receiver: (...reactions: readonly Reaction[]) => Promise<TestReceiver>;
  readonly advance: (ms: number) => Promise<void>;
  /** Returns when each delivery arrived, in milliseconds since the start of the clock. */
  readonly times: (receiver: TestReceiver) => readonly number[];
}

interface OutboxFixtureOptions {
  readonly behaviour?: Partial<DeliveryBehaviour>;
  readonly store?: Store;
  readonly guard?: Partial<GuardOptions>;
}

export function outboxFixture({
  behaviour = {},
  store = memoryStore(),
  guard = {},
}: OutboxFixtureOptions = {}): OutboxFixture {
  const clock = virtualClock();
  const created = outbox({
    clock,
    behaviour: { ...standardDeliveries, ...behaviour },
    store,
    receivers: "in-process",
    guard: addressGuard({ allowsLoopback: true, allowed: [], ...guard }),
  });
  onTestFinished(() => created.close());
  return {
    clock,
    outbox: created,
    receiver: async (...reactions) => {
      const receiver = await testReceiver(() => clock.now(), reactions);
      onTestFinished(() => receiver.close());
      return receiver;
    },
    advance: (ms) => clock.advance(ms, () => created.whenIdle()),
    times: ({ received }) => received.map(({ atMs }) => atMs - virtualEpochMs),
  };
}

/** Makes a webhook for all events of all agents. `given` replaces some of its fields. */
export function newWebhook(url: string, given: Partial<NewWebhook> = {}): NewWebhook {
  return {
    url,
    events: ["agent.*", "deployment.*"],
    agentId: null,
    secret: "whsec",
    headers: {},
    owner: "pro",
    ...given,
  };
}

/** Makes an event of the agent `echo`. `given` replaces some of its fields. */
export function agentEvent(given: Partial<HostingEvent> = {}): HostingEvent {
  return { type: "agent.completed", agentId: "echo", deploymentId: "dep_1", data: { tokens_used: 3 }, ...given };
}

/** The reaction to a delivery: a status, perhaps with headers, or a way not to respond. */
export type Reaction =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | "silence"
  | "reset"
  | "endless";

/** A delivery that was received. */
export interface ReceivedDelivery {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values of the headers in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly json: Readonly<Record<string, unknown>>;
  /** Time of arrival on the clock. */
  readonly atMs: number;
}

export interface TestReceiver {
  readonly origin: string;
  readonly url: string;
  readonly received: readonly ReceivedDelivery[];
  close(): Promise<void>;
}

/**
 * Starts a receiver on loopback. The n-th delivery gets the n-th reaction, and the last reaction repeats. A function
 * chooses the reaction by the path of the delivery.
 */
export async function testReceiver(
  nowMs: () => number,
  reactions: readonly Reaction[] | ((path: string) => Reaction),
): Promise<TestReceiver> {
  const received: ReceivedDelivery[] = [];
  const chooseReaction = (index: number, path: string): Reaction =>
    typeof reactions === "function" ? reactions(path) : (reactions[index] ?? reactions.at(-1) ?? 204);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (data: Buffer) => chunks.push(data));
    request.on("end", () => {
      const delivery = toDelivery(request, Buffer.concat(chunks), nowMs());
      received.push(delivery);
      react(response, chooseReaction(received.length - 1, delivery.path));
    });
  });
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  return {
    origin,
    url: `${origin}/hook`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function toDelivery(request: IncomingMessage, bytes: Buffer, atMs: number): ReceivedDelivery {
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    bytes,
    json: fieldsOf(tryParseJson(bytes.toString("utf8"))),
    atMs,
  };
}

function react(response: ServerResponse, reaction: Reaction): void {
  if (reaction === "silence") return;
  if (reaction === "reset") return void response.socket?.resetAndDestroy();
  if (reaction === "endless") {
    response.writeHead(200);
    response.write("and so on ");
    return;
  }
  const { status, headers } = typeof reaction === "number" ? { status: reaction, headers: {} } : reaction;
  response.writeHead(status, headers).end();
}

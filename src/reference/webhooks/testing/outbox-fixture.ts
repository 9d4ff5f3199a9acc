import { onTestFinished } from "vitest";
import { standardDeliveries, type DeliveryBehaviour } from "../../behaviour/deliveries.ts";
import { virtualClock, virtualEpochMs, type VirtualClock } from "../../clock.ts";
import { addressGuard, type GuardOptions } from "../address-guard.ts";
import { outbox, type HostingEvent, type NewWebhook, type Outbox } from "../outbox.ts";
import { memoryStore, type Store } from "../store.ts";
import { testReceiver, type Reaction, type TestReceiver } from "./receiver.ts";

/** An outbox on a virtual clock, for one test. */
export interface OutboxFixture {
  readonly clock: VirtualClock;
  readonly outbox: Outbox;
  /** Starts a receiver on loopback with these reactions. */
  readonly receiver: (...reactions: readonly Reaction[]) => Promise<TestReceiver>;
  readonly advance: (ms: number) => Promise<void>;
  /** Returns when each delivery arrived, in milliseconds since the start of the clock. */
  readonly times: (receiver: TestReceiver) => readonly number[];
}

export interface OutboxFixtureOptions {
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

export const minute = 60_000;
export const hour = 60 * minute;

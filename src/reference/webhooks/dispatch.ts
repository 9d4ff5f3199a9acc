import { setImmediate as turn } from "node:timers/promises";
import type { AttemptInput, DeliveryBehaviour } from "../behaviour/deliveries.ts";
import type { Clock, Timer } from "../clock.ts";
import type { AddressGuard } from "./address-guard.ts";
import { deliveryClient, type DeliveryOutcome, type DeliveryClient, type DeliveryRequest } from "./delivery-client.ts";
import { type DeliveryRegistry, deliveryId } from "./delivery-registry.ts";
import type { Delivery } from "./store.ts";

/** Sends each delivery when it is due. */
export interface Dispatcher {
  schedule(delivery: Delivery): void;
  whenIdle(): Promise<void>;
  close(): Promise<void>;
}

export function dispatcher(
  clock: Clock,
  behaviour: DeliveryBehaviour,
  guard: AddressGuard,
  deliveries: DeliveryRegistry,
  receivers: ReceiverLocation,
): Dispatcher {
  const queue = deliveryQueues(() => behaviour.maxConcurrentPerQueue());
  const onTheWire = inFlightRequests(receivers);
  const wire = deliveryClient(clock, guard);
  const timers = new Map<number, Timer>();
  /** Queues whose receiver let the last request time out. */
  const silent = new Set<string>();
  let closed = false;

  const attempt = async (number: number, lane: string): Promise<void> => {
    const delivery = deliveries.find(number);
    if (delivery === undefined || closed) return;
    const atMs = clock.now();
    const landed = onTheWire.begin(silent.has(lane) ? "little" : "usual");
    const answer = await sent(wire, behaviour, delivery);
    landed();
    if (closed) return;
    if (answer.kind === "silent") silent.add(lane);
    else silent.delete(lane);
    schedule(deliveries.endAttempt(delivery, { atMs, endedMs: clock.now(), ...outcomeOf(answer) }));
  };
  const enqueue = ({ number, to }: Delivery) => {
    const lane = behaviour.deliveryQueue(to.webhookId, to.url);
    queue.add(lane, () => attempt(number, lane));
  };
  const schedule = (delivery: Delivery) => {
    const { number, nextAttemptMs } = delivery;
    if (nextAttemptMs === null || closed) return;
    const delayMs = nextAttemptMs - clock.now();
    if (delayMs <= 0) return enqueue(delivery);
    const due = () => {
      timers.delete(number);
      enqueue(delivery);
    };
    timers.set(number, clock.setTimeout(due, delayMs));
  };
  return {
    schedule,
    whenIdle: async () => {
      do {
        await queue.allStarted();
        await onTheWire.whenIdle();
      } while (onTheWire.isWaiting());
    },
    close: async () => {
      closed = true;
      for (const timer of timers.values()) clock.clearTimeout(timer);
      queue.close();
      await wire.close();
    },
  };
}

async function sent(wire: DeliveryClient, behaviour: DeliveryBehaviour, delivery: Delivery): Promise<DeliveryOutcome> {
  try {
    return await wire.send(sendingOf(behaviour, delivery));
  } catch {
    return { kind: "failed", failure: "the delivery could not be written" };
  }
}

function sendingOf(behaviour: DeliveryBehaviour, delivery: Delivery): DeliveryRequest {
  const { to, message, attempts } = delivery;
  const attempt = attempts.length + 1;
  const eventId = behaviour.eventId(message.number, attempt);
  const body = message.kind === "event" ? behaviour.eventBody({ ...message, id: eventId }) : message.body;
  const bytes = behaviour.deliveryBytes(body);
  const facts: AttemptInput = {
    deliveryId: deliveryId(delivery),
    webhookId: to.webhookId,
    eventId,
    type: message.kind === "event" ? message.type : null,
    attempt,
  };
  return {
    url: to.url,
    headers: behaviour.deliveryHeaders(facts, behaviour.deliverySignature(bytes, to.secret), to.headers),
    bytes,
    framing: behaviour.deliveryFraming(),
    timeoutMs: behaviour.responseTimeoutMs(),
    awaitsBody: behaviour.awaitsResponseBody(),
  };
}

function outcomeOf(answer: DeliveryOutcome): { readonly status: number | null; readonly failure: string | null } {
  return answer.kind === "answered"
    ? { status: answer.status, failure: null }
    : { status: null, failure: answer.failure };
}

/** Queues of work. Each one runs a limited number of jobs at once and never waits for another queue. */
export interface DeliveryQueues {
  /** Starts a job soon, or when its queue has room. The job must not reject. */
  add(lane: string, work: () => Promise<void>): void;
  /** Resolves when all jobs that have room have started. */
  allStarted(): Promise<void>;
  /** Drops the waiting jobs. */
  close(): void;
}

interface Lane {
  running: number;
  readonly waiting: (() => Promise<void>)[];
}

export function deliveryQueues(most: () => number): DeliveryQueues {
  const byName = new Map<string, Lane>();
  let beginning = 0;
  let closed = false;
  const next = async (name: string, lane: Lane): Promise<void> => {
    for (let work = lane.waiting.shift(); work !== undefined && !closed; work = lane.waiting.shift()) await work();
    lane.running -= 1;
    if (lane.running === 0) byName.delete(name);
  };
  return {
    add: (name, work) => {
      const lane = byName.get(name) ?? { running: 0, waiting: [] };
      byName.set(name, lane);
      lane.waiting.push(work);
      if (lane.running >= most()) return;
      lane.running += 1;
      beginning += 1;
      // The caller has a response to send first.
      setImmediate(() => {
        beginning -= 1;
        void next(name, lane);
      });
    },
    allStarted: async () => {
      while (beginning > 0) await turn();
    },
    close: () => {
      closed = true;
    },
  };
}

/** Requests without a response yet. A virtual clock waits for them, but only for a limited time. */
export interface InFlightRequests {
  /** Adds a request that is being sent. Call the result when the request has ended. */
  begin(patience: WaitBudget): () => void;
  /** Whether a request is open whose wait budget is not used up. */
  isWaiting(): boolean;
  /** Resolves when there is no such request. */
  whenIdle(): Promise<void>;
}

/** How long to wait for a request: `little` if the receiver was silent the last time. */
export type WaitBudget = "usual" | "little";

/**
 * Location of the receivers. One in this process responds after a few turns of the event loop; others may need longer.
 */
export type ReceiverLocation = "in-process" | "anywhere";

/**
 * Budgets are slices of real time, one timer each. If this process itself stalls, that costs only one slice, and
 * responses that arrived meanwhile are read before the next one.
 */
const sliceMs = 20;
const usualSlices: Readonly<Record<ReceiverLocation, number>> = { "in-process": 6, anywhere: 50 };
const littleSlices = 1;

/** Turns of the event loop that a response needs to be read after it has arrived. */
const turnsToRead = 4;

export function inFlightRequests(receivers: ReceiverLocation): InFlightRequests {
  const open = new Set<object>();
  const waitedFor = new Set<object>();
  let waiters: (() => void)[] = [];
  const stopWaiting = (flight: object) => {
    waitedFor.delete(flight);
    if (waitedFor.size > 0) return;
    for (const wake of waiters) wake();
    waiters = [];
  };
  const wait = (flight: object, left: number) => {
    if (left === 0) return stopWaiting(flight);
    setTimeout(() => waitedFor.has(flight) && wait(flight, left - 1), sliceMs).unref();
  };
  return {
    begin: (patience) => {
      const flight = {};
      open.add(flight);
      waitedFor.add(flight);
      wait(flight, patience === "usual" ? usualSlices[receivers] : littleSlices);
      return () => {
        open.delete(flight);
        stopWaiting(flight);
      };
    },
    isWaiting: () => waitedFor.size > 0,
    whenIdle: async () => {
      while (waitedFor.size > 0) await new Promise<void>((resolve) => void waiters.push(resolve));
      for (let count = 0; count < turnsToRead && open.size > 0; count += 1) await turn();
    },
  };
}

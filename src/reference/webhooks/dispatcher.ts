import { setImmediate as nextTurn } from "node:timers/promises";
import type { DeliveryAttemptInput, DeliveryBehaviour } from "../behaviour/deliveries.ts";
import type { Clock, Timer } from "../clock.ts";
import type { AddressGuard } from "./address-guard.ts";
import { deliveryClient, type DeliveryOutcome, type DeliveryClient, type DeliveryRequest } from "./delivery-client.ts";
import { type DeliveryRegistry, deliveryId } from "./registries.ts";
import type { Delivery } from "./store.ts";

/** Creates a dispatcher, which sends each delivery when it is due. */
export function dispatcher(
  clock: Clock,
  behaviour: DeliveryBehaviour,
  guard: AddressGuard,
  deliveries: DeliveryRegistry,
  receivers: ReceiverLocation,
) {
  const queues = deliveryQueues(() => behaviour.maxConcurrentPerQueue());
  const inFlight = inFlightRequests(receivers);
  const client = deliveryClient(clock, guard);
  const timers = new Map<number, Timer>();
  const silentQueues = new Set<string>();
  let closed = false;

  const attempt = async (number: number, queue: string): Promise<void> => {
    const delivery = deliveries.find(number);
    if (delivery === undefined || closed) return;
    const atMs = clock.now();
    const ended = inFlight.begin(silentQueues.has(queue) ? "little" : "usual");
    const outcome = await sendDelivery(client, behaviour, delivery);
    ended();
    if (closed) return;
    if (outcome.kind === "silent") silentQueues.add(queue);
    else silentQueues.delete(queue);
    schedule(deliveries.endAttempt(delivery, { atMs, endedMs: clock.now(), ...outcomeOf(outcome) }));
  };
  const enqueue = ({ number, to }: Delivery) => {
    const queue = behaviour.deliveryQueue(to.webhookId, to.url);
    queues.add(queue, () => attempt(number, queue));
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
        await queues.allStarted();
        await inFlight.whenIdle();
      } while (inFlight.isWaiting());
    },
    close: async () => {
      closed = true;
      for (const timer of timers.values()) clock.clearTimeout(timer);
      queues.close();
      await client.close();
    },
  };
}

async function sendDelivery(
  client: DeliveryClient,
  behaviour: DeliveryBehaviour,
  delivery: Delivery,
): Promise<DeliveryOutcome> {
  try {
    return await client.send(deliveryRequest(behaviour, delivery));
  } catch {
    return { kind: "failed", failure: "the delivery could not be written" };
  }
}

function deliveryRequest(behaviour: DeliveryBehaviour, delivery: Delivery): DeliveryRequest {
  const { to, message, attempts } = delivery;
  const attempt = attempts.length + 1;
  const eventId = behaviour.eventId(message.number, attempt);
  const body = message.kind === "event" ? behaviour.eventBody({ ...message, id: eventId }) : message.body;
  const bytes = behaviour.deliveryBytes(body);
  const facts: DeliveryAttemptInput = {
    deliveryId: deliveryId(delivery),
    webhookId: to.webhookId,
    eventId,
    type: message.kind === "event" ? message.type : null,
    attempt,
  };
  return {
    url: behaviour.deliveryUrl(to.url, facts),
    headers: behaviour.deliveryHeaders(
      facts,
      behaviour.deliverySignature(bytes, behaviour.signingSecret(to)),
      to.headers,
    ),
    bytes,
    localAddress: behaviour.deliverySource(facts),
    framing: behaviour.deliveryFraming(),
    timeoutMs: behaviour.responseTimeoutMs(),
    awaitsBody: behaviour.awaitsResponseBody(),
    followsRedirects: behaviour.followsRedirects(),
    acceptsResponse: behaviour.acceptsResponse,
  };
}

function outcomeOf(outcome: DeliveryOutcome): { readonly status: number | null; readonly failure: string | null } {
  return outcome.kind === "answered"
    ? { status: outcome.status, failure: null }
    : { status: null, failure: outcome.failure };
}

interface Queue {
  running: number;
  readonly waiting: (() => Promise<void>)[];
}

/** Creates queues of jobs. Each runs a limited number of jobs at once and never waits for another queue. */
function deliveryQueues(maxRunning: () => number) {
  const byName = new Map<string, Queue>();
  let starting = 0;
  let closed = false;
  const next = async (name: string, queue: Queue): Promise<void> => {
    for (let job = queue.waiting.shift(); job !== undefined && !closed; job = queue.waiting.shift()) await job();
    queue.running -= 1;
    if (queue.running === 0) byName.delete(name);
  };
  return {
    /** Adds a job. The job starts as soon as its queue may run another job. The promise of `job` must not reject. */
    add: (name: string, job: () => Promise<void>) => {
      const queue = byName.get(name) ?? { running: 0, waiting: [] };
      byName.set(name, queue);
      queue.waiting.push(job);
      if (queue.running >= maxRunning()) return;
      queue.running += 1;
      starting += 1;
      // Starts the job in the next event-loop turn. The server first responds to the request that caused the delivery.
      setImmediate(() => {
        starting -= 1;
        void next(name, queue);
      });
    },
    /** Resolves when every job has started, except jobs that wait for another job of their queue. */
    allStarted: async () => {
      while (starting > 0) await nextTurn();
    },
    close: () => {
      closed = true;
    },
  };
}

/** Time that a virtual clock waits for a response. `little`: for a receiver whose last delivery timed out. */
type WaitBudget = "usual" | "little";

/** Location of the webhook receivers. A virtual clock waits less for receivers in the server's own process. */
export type ReceiverLocation = "in-process" | "anywhere";

/**
 * A wait for a response is a chain of timers of this duration. After a stall of the process, a single long timer could
 * end before the process reads a response that has arrived.
 */
const sliceMs = 20;
const usualSlicesByLocation: Readonly<Record<ReceiverLocation, number>> = { "in-process": 6, anywhere: 50 };
const littleSlices = 1;

/** Number of event-loop turns that Node gets after a wait, to read responses that have arrived. */
const turnsToRead = 4;

/** Keeps requests that have no response yet. A virtual clock waits briefly for the responses before it advances. */
function inFlightRequests(receivers: ReceiverLocation) {
  const open = new Set<object>();
  const waitedFor = new Set<object>();
  let waiters: (() => void)[] = [];
  const stopWaiting = (request: object) => {
    waitedFor.delete(request);
    if (waitedFor.size > 0) return;
    for (const wake of waiters) wake();
    waiters = [];
  };
  const wait = (request: object, slices: number) => {
    if (slices === 0) return stopWaiting(request);
    setTimeout(() => waitedFor.has(request) && wait(request, slices - 1), sliceMs).unref();
  };
  return {
    /** Registers a request that is being sent. Call the returned function when the request ends. */
    begin: (budget: WaitBudget) => {
      const request = {};
      open.add(request);
      waitedFor.add(request);
      wait(request, budget === "usual" ? usualSlicesByLocation[receivers] : littleSlices);
      return () => {
        open.delete(request);
        stopWaiting(request);
      };
    },
    isWaiting: () => waitedFor.size > 0,
    whenIdle: async () => {
      while (waitedFor.size > 0) await new Promise<void>((resolve) => void waiters.push(resolve));
      for (let count = 0; count < turnsToRead && open.size > 0; count += 1) await nextTurn();
    },
  };
}

import type { AttemptInput, DeliveryBehaviour } from "../behaviour/deliveries.ts";
import type { Clock, Timer } from "../clock.ts";
import type { AddressGuard } from "./address-guard.ts";
import type { DeliveryRegistry } from "./delivery-registry.ts";
import { inFlightRequests, type ReceiverLocation } from "./in-flight.ts";
import { deliveryQueues } from "./delivery-queues.ts";
import { deliveryId } from "./delivery-state.ts";
import { deliveryClient, type DeliveryOutcome, type DeliveryClient, type DeliveryRequest } from "./delivery-client.ts";
import type { Delivery } from "./store.ts";

/** Sends what is due when it is due. */
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
  /** Lanes whose receiver let the last request run into its end. */
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

import { type Hook, type Receiver, ReceiverError, type ReceiverRecord, startReceiver } from "../receiver/receiver.ts";
import type { ReceiverClock } from "../receiver/request-handler.ts";
import { firstRequirementSet, type RequirementSet } from "../spec/clause.ts";
import type { Delivery } from "../evidence/delivery.ts";
import type { Target } from "../target/target.ts";

/** A single attempt to run a probe. If an outage interrupts an attempt, the probe runs again in a new attempt. */
interface ProbeAttempt {
  readonly hooks: Hook[];
  isOver: boolean;
}

/**
 * Returns a function to call before each attempt of a probe. That function marks the webhook addresses (hooks) of
 * earlier attempts as interrupted, and returns a function that opens the webhook receiver.
 */
export function receiverByAttempt<P>(
  open: () => Promise<Receiver>,
  sinceOf: (each: P) => RequirementSet,
): (each: P) => () => Promise<Receiver> {
  const attempts = new Map<P, ProbeAttempt>();
  return (each) => {
    const earlier = attempts.get(each);
    if (earlier !== undefined) {
      earlier.isOver = true;
      for (const hook of earlier.hooks) hook.setAside();
    }
    const current: ProbeAttempt = { hooks: [], isOver: false };
    attempts.set(each, current);
    return async () => {
      const receiver = await open();
      return {
        ...receiver,
        open: (name, plan) => {
          const since = sinceOf(each);
          const hook = receiver.open(name, since === firstRequirementSet ? plan : { ...plan, since });
          current.hooks.push(hook);
          if (current.isOver) hook.setAside();
          return hook;
        },
      };
    };
  };
}

/**
 * Maximum number of deliveries to one address that one agent execution can cause: `agent.invoked` and an event for its
 * end, each of them up to twice.
 */
const maxDeliveriesPerExecution = 4;

/** Returns functions that manage the webhook receiver of a run. The receiver starts when a probe first needs it. */
export function receiverOnDemand({ webhooks, network }: Target, time: ReceiverClock) {
  let opening: Promise<Receiver> | null = null;
  let opened: Receiver | null = null;
  let isOver = false;
  const start = async (listen: string, publicUrl: string | null): Promise<Receiver> => {
    const receiver = await startReceiver({ listen, publicUrl, time, network });
    const unreachable = await receiver.reachable();
    if (unreachable === null && !isOver) return receiver;
    await receiver.close();
    throw new ReceiverError(unreachable ?? "the run is over");
  };
  return {
    /**
     * Returns the receiver, which the first call starts.
     *
     * @throws {ReceiverError} if the receiver cannot start, or the target cannot reach it
     */
    open: async (): Promise<Receiver> => {
      if (webhooks === null) throw new Error("a probe needs a receiver, and the target has none");
      opening ??= start(webhooks.listen, webhooks.publicUrl);
      opened = await opening;
      return opened;
    },
    deliveries: (): readonly Delivery[] => opened?.deliveries() ?? [],
    record: (): ReceiverRecord | null => opened?.record() ?? null,
    /**
     * Returns a sentence if deliveries were not stored, for lack of space, and the run's agent `executions` cannot have
     * caused so many. Otherwise, returns `null`.
     */
    floodReason: (executions: number): string | null => {
      const dropped = Object.values(opened?.droppedByHook() ?? {});
      if (dropped.every((count) => count <= maxDeliveriesPerExecution * executions)) return null;
      const arrived = opened?.record().deliveries ?? 0;
      const sum = dropped.reduce((total, count) => total + count, 0);
      return `${arrived} deliveries arrived, of which ${sum} were counted and not stored`;
    },
    /** Hands the open receiver to the caller, who must close it. */
    handOver: (): Receiver | null => {
      const receiver = opened;
      opened = null;
      return receiver;
    },
    close: async (): Promise<void> => {
      isOver = true;
      await opened?.close();
    },
  };
}

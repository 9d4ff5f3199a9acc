import type { Delivery } from "../evidence/delivery.ts";
import { type Receiver, ReceiverError, type ReceiverRecord, startReceiver } from "../receiver/receiver.ts";
import type { Target } from "../target/target.ts";
import type { RunClock } from "./time/run-clock.ts";

/** Manages the webhook receiver of a run. The receiver starts when the first probe needs it. */
export function receiverOnDemand({ webhooks, network }: Target, time: RunClock) {
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
     * Returns the receiver, and starts it at the first call.
     *
     * @throws {ReceiverError} if the receiver cannot listen, or its public address does not lead to it. The probe then
     * creates no webhook.
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
     * If more deliveries arrived than the receiver stores, says how many, as a reason why the run is incomplete. `null`
     * if all were stored.
     */
    floodReason: (): string | null => {
      const dropped = Object.values(opened?.droppedByHook() ?? {}).reduce((sum, count) => sum + count, 0);
      const arrived = opened?.record().deliveries ?? 0;
      return dropped === 0 ? null : `${arrived} deliveries arrived, of which ${dropped} were counted and not stored`;
    },
    /** Gives the open receiver to the caller, who must close it. */
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

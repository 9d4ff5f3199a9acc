import { randomBytes } from "node:crypto";

import { type Network, plainNetwork } from "../base/network/network.ts";
import type { Delivery } from "../evidence/delivery.ts";
import {
  baseUrlFor,
  describeUnreachable,
  formatAddress,
  limitConnections,
  listen,
  openServer,
  readListenAddress,
} from "./server.ts";
import { type Hook, type HookPlan, type HookRecord, type OpenHook, openHook } from "./hook.ts";
import {
  createRequestHandler,
  type IgnoredCounts,
  limitKeptConnections,
  type ReceiverClock,
} from "./request-handler.ts";

export type { Hook, HookPlan, HookRecord, Reply } from "./hook.ts";
export { ReceiverError } from "./server.ts";

/** An HTTP server that receives the webhook deliveries and alerts of a target, and replies as planned. */
export interface Receiver {
  readonly baseUrl: string;
  readonly address: string;
  /** Opens a hook. No other active hook may have the same name. */
  readonly open: (name: string, plan: HookPlan) => Hook;
  readonly deliveries: () => readonly Delivery[];
  /**
   * Sets the function that gets each delivery. If a reply changes, e.g. from `held` to `answered`, the function gets
   * the delivery again, with the same id.
   */
  readonly onDelivery: (onDelivery: (delivery: Delivery) => void) => void;
  readonly record: () => ReceiverRecord;
  readonly ignored: () => Readonly<IgnoredCounts>;
  readonly droppedByHook: () => Readonly<Record<string, number>>;
  readonly refusedConnections: () => number;
  /** Returns why the public URL does not lead to the receiver; `null` if the URL works. */
  readonly reachable: () => Promise<string | null>;
  readonly close: () => Promise<void>;
}

export interface ReceiverRecord {
  readonly listen: string;
  readonly publicUrl: string | null;
  readonly hooks: readonly HookRecord[];
  /** Number of deliveries so far. A resumed receiver continues its delivery ids from this number. */
  readonly deliveries: number;
}

export interface ReceiverOptions {
  /** Address to listen on, as `host:port`. Port 0: any free port. */
  readonly listen: string;
  /** URL at which the target reaches the receiver. `null`: the target uses the address in `listen`. */
  readonly publicUrl: string | null;
  readonly time: ReceiverClock;
  readonly network?: Network;
  readonly resumed?: Pick<ReceiverRecord, "hooks" | "deliveries">;
  /** Time within which a request must arrive completely, in milliseconds. Default: 15 seconds. */
  readonly requestDeadlineMs?: number;
  /**
   * Limits the number and total size of stored deliveries, apart from `perHookStorage`. Further deliveries are only
   * counted.
   */
  readonly storage?: StorageBounds;
}

export interface StorageBounds {
  readonly stored: number;
  readonly bytes: number;
}

/**
 * Storage for the deliveries of a run. A conforming target has needed 5,500, because some webhooks were for the agent
 * whose invokes use up the limits.
 */
const runStorage: StorageBounds = { stored: 6000, bytes: 6 * 1024 * 1024 };
/** Limits of the storage for deliveries during a load. A load causes thousands of deliveries. */
export const loadStorage: StorageBounds = { stored: 20_000, bytes: 48 * 1024 * 1024 };

const defaultRequestDeadlineMs = 15_000;

/**
 * Starts a webhook receiver.
 *
 * @throws {ReceiverError} if it cannot listen, or its public URL is not usable
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { publicUrl, time, network = plainNetwork, resumed, requestDeadlineMs = defaultRequestDeadlineMs } = options;
  const wanted = readListenAddress(options.listen);
  baseUrlFor(wanted, publicUrl);
  let onDelivery: (delivery: Delivery) => void = () => {};
  const hooks = createHookRegistry((delivery) => onDelivery(delivery), options.storage ?? runStorage);
  const ignored: IgnoredCounts = { unknown: 0, reachabilityRequests: 0, malformed: 0, incomplete: 0 };
  const self = { token: generateToken(), answer: generateToken() };
  const server = openServer(requestDeadlineMs);
  const connections = limitConnections(server);
  const handle = createRequestHandler({
    time,
    ignored,
    keepOpen: limitKeptConnections(),
    connections,
    earlierDeliveries: resumed?.deliveries ?? 0,
    hookAt: hooks.at,
    ownResponseAt: (token) => (token === self.token ? self.answer : undefined),
  });
  server.on("request", handle);
  server.on("clientError", (_error, socket) => {
    ignored.malformed += 1;
    // Without `pause`, the parser would emit `clientError` again for each further piece of data.
    connections.reject(socket.pause(), () => socket.destroy());
  });
  const listening = await listen(server, wanted);
  const baseUrl = baseUrlFor(listening, publicUrl);
  for (const record of resumed?.hooks ?? []) hooks.place(record, baseUrl);

  return {
    baseUrl,
    address: formatAddress(listening),
    open: (name, plan) => {
      if (!/^[\w.-]+$/.test(name)) throw new Error(`a hook cannot be named ${JSON.stringify(name)}`);
      return hooks.place({ name, token: generateToken(), arrivals: 0, isReleased: false, ...plan }, baseUrl);
    },
    deliveries: hooks.deliveries,
    onDelivery: (then) => {
      onDelivery = then;
    },
    record: () => ({
      listen: formatAddress(listening),
      publicUrl,
      hooks: hooks.records(),
      deliveries: (resumed?.deliveries ?? 0) + hooks.arrivals() - arrivalCount(resumed?.hooks ?? []),
    }),
    ignored: () => ({ ...ignored }),
    droppedByHook: hooks.droppedByHook,
    refusedConnections: connections.refusedCount,
    reachable: async () =>
      publicUrl === null ? null : describeUnreachable(publicUrl, `${baseUrl}/${self.token}/self`, self.answer, network),
    close: async () => {
      hooks.close();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

const arrivalCount = (hooks: readonly HookRecord[]): number => hooks.reduce((sum, { arrivals }) => sum + arrivals, 0);

const generateToken = (): string => randomBytes(18).toString("base64url");

/**
 * Each hook keeps its first `stored` deliveries even if `storage` is full. `bytes` limits all hooks together, not each
 * hook.
 */
const perHookStorage = { stored: 50, bytes: 8 * 1024 * 1024 } as const;
/** Maximum storage that one delivery needs, in bytes. The receiver reads no body if less is left. */
const maxDeliveryBytes = 512 * 1024;

function createHookRegistry(onDelivery: (delivery: Delivery) => void, storage: StorageBounds) {
  const hooks = new Map<string, OpenHook>();
  let [stored, storedBytes] = [0, 0];
  const isFull = (storedInHook: number): boolean =>
    storedInHook < perHookStorage.stored
      ? storedBytes > perHookStorage.bytes - maxDeliveryBytes
      : stored >= storage.stored || storedBytes > storage.bytes - maxDeliveryBytes;
  const hasRoom = (bytes: number, storedInHook: number): boolean => {
    const isFirst = storedInHook < perHookStorage.stored && storedBytes + bytes <= perHookStorage.bytes;
    const isStored = isFirst || (stored < storage.stored && storedBytes + bytes <= storage.bytes);
    if (isStored) [stored, storedBytes] = [stored + 1, storedBytes + bytes];
    return isStored;
  };
  const all = (): Hook[] => [...hooks.values()].map(({ hook }) => hook);
  return {
    place: (record: HookRecord, baseUrl: string): Hook => {
      const opened = openHook(record, `${baseUrl}/${record.token}/${record.name}`, { hasRoom, isFull }, onDelivery);
      hooks.set(record.token, opened);
      return opened.hook;
    },
    at: (token: string, name: string): OpenHook | null => {
      const opened = hooks.get(token);
      return opened?.hook.name === name ? opened : null;
    },
    deliveries: (): Delivery[] =>
      all()
        .flatMap((hook) => hook.deliveries())
        .toSorted((one, other) => deliveryNumber(one) - deliveryNumber(other)),
    droppedByHook: (): Record<string, number> =>
      Object.fromEntries(all().flatMap((hook) => (hook.droppedCount() > 0 ? [[hook.name, hook.droppedCount()]] : []))),
    records: (): HookRecord[] =>
      [...hooks.values()].filter(({ isSetAside }) => !isSetAside()).map(({ record }) => record()),
    arrivals: (): number => arrivalCount([...hooks.values()].map(({ record }) => record())),
    close: (): void => {
      for (const { close } of hooks.values()) close();
    },
  };
}

const deliveryNumber = ({ id }: Delivery): number => Number(id.slice(1));

import { randomBytes } from "node:crypto";

import { type Network, plainNetwork } from "../base/network/network.ts";
import type { Delivery } from "../evidence/delivery.ts";
import {
  baseUrlFor,
  testPublicUrl,
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

/** An HTTP server that receives the webhook deliveries and usage alerts of a target, and sends planned replies. */
export interface Receiver {
  readonly baseUrl: string;
  readonly address: string;
  /** Opens a hook: an address for the deliveries of one webhook. No other hook in use may have the same name. */
  readonly open: (name: string, plan: HookPlan) => Hook;
  readonly deliveries: () => readonly Delivery[];
  /**
   * Sets the listener for deliveries. If the reply to a delivery changes later, e.g. from `held` to `answered`, the
   * listener gets that delivery again, with the same id.
   */
  readonly onDelivery: (onDelivery: (delivery: Delivery) => void) => void;
  readonly record: () => ReceiverRecord;
  readonly ignored: () => Readonly<IgnoredCounts>;
  readonly droppedByHook: () => Readonly<Record<string, number>>;
  readonly refusedConnections: () => number;
  /**
   * Sends a request to the public URL. Returns why the request did not reach the receiver; `null` if it did, or if
   * there is no public URL.
   */
  readonly reachable: () => Promise<string | null>;
  readonly close: () => Promise<void>;
}

export interface ReceiverRecord {
  readonly listen: string;
  readonly publicUrl: string | null;
  readonly hooks: readonly HookRecord[];
  /** Number of deliveries so far. A receiver that is resumed from this record continues the delivery ids from here. */
  readonly deliveries: number;
}

export interface ReceiverOptions {
  /** Address to listen on, as `host:port`. Port 0 means any free port. */
  readonly listen: string;
  /**
   * URL at which the target reaches the receiver, such as that of a tunnel. `null` if the target uses the address in
   * `listen`.
   */
  readonly publicUrl: string | null;
  readonly time: ReceiverClock;
  readonly network?: Network;
  readonly resumed?: Pick<ReceiverRecord, "hooks" | "deliveries">;
  /** Time within which a request must arrive completely, in milliseconds. Default: 15 seconds. */
  readonly requestDeadlineMs?: number;
  /**
   * Maximum number and total size of the stored deliveries. The receiver only counts further deliveries, except the
   * first few of each hook (`perHookStorage`).
   */
  readonly storage?: StorageBounds;
}

export interface StorageBounds {
  readonly stored: number;
  readonly bytes: number;
}

/**
 * Maximum storage during a run. A run against a conforming target needed 5,500 deliveries: some webhooks also reported
 * the many invokes that test the rate limits.
 */
const runStorage: StorageBounds = { stored: 6000, bytes: 6 * 1024 * 1024 };
/** Maximum storage during a load, which can cause thousands of deliveries. */
export const loadStorage: StorageBounds = { stored: 20_000, bytes: 48 * 1024 * 1024 };

const defaultRequestDeadlineMs = 15_000;

/**
 * Starts a webhook receiver.
 *
 * @throws {ReceiverError} if the receiver cannot listen, or the public URL is not valid
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
    // Without `pause`, Node's HTTP parser would emit `clientError` again for each further piece of data.
    connections.reject(socket.pause(), () => socket.destroy());
  });
  const listening = await listen(server, wanted);
  const baseUrl = baseUrlFor(listening, publicUrl);
  for (const record of resumed?.hooks ?? []) hooks.open(record, baseUrl);

  return {
    baseUrl,
    address: formatAddress(listening),
    open: (name, plan) => {
      if (!/^[\w.-]+$/.test(name)) throw new Error(`a hook cannot be named ${JSON.stringify(name)}`);
      return hooks.open({ name, token: generateToken(), arrivals: 0, isReleased: false, ...plan }, baseUrl);
    },
    deliveries: hooks.deliveries,
    onDelivery: (listener) => {
      onDelivery = listener;
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
      publicUrl === null ? null : testPublicUrl(publicUrl, `${baseUrl}/${self.token}/self`, self.answer, network),
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
 * `stored`: how many deliveries of each hook the receiver stores even if other hooks have used up its
 * {@link StorageBounds}. `bytes`: total size of all stored deliveries at which this exception ends.
 */
const perHookStorage = { stored: 50, bytes: 8 * 1024 * 1024 } as const;
/** Maximum storage that one delivery needs, in bytes. If less is left, the receiver only counts deliveries. */
const maxDeliveryBytes = 512 * 1024;

function createHookRegistry(onDelivery: (delivery: Delivery) => void, storage: StorageBounds) {
  const hooks = new Map<string, OpenHook>();
  let [stored, storedBytes] = [0, 0];
  const fits = (bytes: number, storedInHook: number): boolean =>
    (storedInHook < perHookStorage.stored && storedBytes + bytes <= perHookStorage.bytes) ||
    (stored < storage.stored && storedBytes + bytes <= storage.bytes);
  const isFull = (storedInHook: number): boolean => !fits(maxDeliveryBytes, storedInHook);
  const reserve = (bytes: number, storedInHook: number): boolean => {
    const isStored = fits(bytes, storedInHook);
    if (isStored) [stored, storedBytes] = [stored + 1, storedBytes + bytes];
    return isStored;
  };
  const all = (): Hook[] => [...hooks.values()].map(({ hook }) => hook);
  return {
    open: (record: HookRecord, baseUrl: string): Hook => {
      const opened = openHook(record, `${baseUrl}/${record.token}/${record.name}`, { reserve, isFull }, onDelivery);
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

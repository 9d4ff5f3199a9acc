import { randomBytes } from "node:crypto";

import { type Network, plainNetwork } from "../base/network/network.ts";
import type { Delivery } from "../evidence/delivery.ts";
import { type Hook, type HookPlan, type HookRecord, type OpenHook, openHook } from "./hook.ts";
import { type Ignored, createRequestHandler, type ReceiverClock } from "./request-handler.ts";
import { addressText, baseUrlFor, readListenAddress, describeUnreachable, listen, openServer } from "./server.ts";
import { openLingeringConnections } from "./replying.ts";

export type { Hook, HookPlan, HookRecord, Reply } from "./hook.ts";
export { ReceiverError as ReceiverProblem } from "./server.ts";

/** Gets what a target sends to webhooks and alerts, and answers as it was told to. */
export interface Receiver {
  /** What hooks' addresses begin with, without a trailing slash. */
  readonly baseUrl: string;
  /** Where it listens: `host:port`, the port that was taken. */
  readonly address: string;
  /** Opens an address for a webhook. The name is unique in a run: letters, digits, `-`, `_` and `.`. */
  readonly open: (name: string, plan: HookPlan) => Hook;
  /** What has come to all hooks, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  /** From now on, tells of each delivery when it is replied to, and again (same id) when the reply changes. */
  readonly onDelivery: (onDelivery: (delivery: Delivery) => void) => void;
  /** What it takes to start it again in the same place. */
  readonly record: () => ReceiverRecord;
  /** Requests that no hook took. */
  readonly ignored: () => Readonly<Ignored>;
  /** Of each hook that has some, by its name, the deliveries beyond what is kept: they were turned away, and counted. */
  readonly droppedByHook: () => Readonly<Record<string, number>>;
  /** Why a request to the public URL does not come back, in one sentence; `null` where it does, or there is no public URL. */
  readonly reachable: () => Promise<string | null>;
  /** Ends at once; connections that are open are closed. */
  readonly close: () => Promise<void>;
}

/** All that it takes to start a receiver again, at the same address and with the same hooks. Plain JSON. */
export interface ReceiverRecord {
  /** With the port that was taken. */
  readonly listen: string;
  readonly publicUrl: string | null;
  readonly hooks: readonly HookRecord[];
  /** Deliveries that have their ids already. */
  readonly deliveries: number;
}

export interface ReceiverOptions {
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  /** Address under which a target reaches it; `null` where it reaches `listen` itself. */
  readonly publicUrl: string | null;
  readonly time: ReceiverClock;
  /** How its public address is looked at from here: straight, unless told. */
  readonly network?: Network;
  /** What an earlier receiver had, to go on with. */
  readonly resumed?: Pick<ReceiverRecord, "hooks" | "deliveries">;
  /** A request must be there whole after this. Default 15 s. */
  readonly requestDeadlineMs?: number;
  /** How much is kept of the deliveries to all hooks together; later ones are counted only. Default {@link ofRun}. */
  readonly storage?: StorageBounds;
}

export interface StorageBounds {
  readonly kept: number;
  readonly bytes: number;
}

/** Twice what the most talkative of honest vendors sent. */
const ofRun: StorageBounds = { kept: 2500, bytes: 6 * 1024 * 1024 };
/** Load has thousands of invokes of which each owes one, and some come twice. */
export const loadStorage: StorageBounds = { kept: 20_000, bytes: 48 * 1024 * 1024 };

const standardRequestDeadlineMs = 15_000;

/**
 * Starts a receiver.
 *
 * @throws {ReceiverProblem} where it cannot listen, or its public URL cannot be used
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { publicUrl, time, network = plainNetwork, resumed, requestDeadlineMs = standardRequestDeadlineMs } = options;
  const wanted = readListenAddress(options.listen);
  baseUrlFor(wanted, publicUrl);
  let onDelivery: (delivery: Delivery) => void = () => {};
  const hooks = openRegistry((delivery) => onDelivery(delivery), options.storage ?? ofRun);
  const ignored: Ignored = { unknown: 0, looks: 0, malformed: 0, incomplete: 0 };
  const self = { token: newToken(), answer: newToken() };
  const handle = createRequestHandler({
    time,
    ignored,
    lingering: openLingeringConnections(),
    earlier: resumed?.deliveries ?? 0,
    hookAt: hooks.at,
    ownAnswerAt: (token) => (token === self.token ? self.answer : undefined),
  });
  const server = openServer(requestDeadlineMs, handle);
  server.on("clientError", (_error, socket) => {
    ignored.malformed += 1;
    socket.destroy();
  });
  const listening = await listen(server, wanted);
  const baseUrl = baseUrlFor(listening, publicUrl);
  for (const record of resumed?.hooks ?? []) hooks.place(record, baseUrl);

  return {
    baseUrl,
    address: addressText(listening),
    open: (name, plan) => {
      if (!/^[\w.-]+$/.test(name)) throw new Error(`a hook cannot be named ${JSON.stringify(name)}`);
      return hooks.place({ name, token: newToken(), arrivals: 0, isReleased: false, ...plan }, baseUrl);
    },
    deliveries: hooks.deliveries,
    onDelivery: (then) => {
      onDelivery = then;
    },
    record: () => ({
      listen: addressText(listening),
      publicUrl,
      hooks: hooks.records(),
      deliveries: (resumed?.deliveries ?? 0) + arrivalsAt(hooks.records()) - arrivalsAt(resumed?.hooks ?? []),
    }),
    ignored: () => ({ ...ignored }),
    droppedByHook: hooks.unkept,
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

const arrivalsAt = (hooks: readonly HookRecord[]): number => hooks.reduce((sum, { arrivals }) => sum + arrivals, 0);

const newToken = (): string => randomBytes(18).toString("base64url");

/** The hooks of a receiver. */
interface Registry {
  readonly place: (record: HookRecord, baseUrl: string) => Hook;
  readonly at: (token: string, name: string) => OpenHook | undefined;
  /** What has come to all hooks, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  /** Deliveries that were counted only, of each hook that has some. */
  readonly unkept: () => Readonly<Record<string, number>>;
  readonly records: () => readonly HookRecord[];
  readonly close: () => void;
}

/** Of each hook so many are kept all the same, so that a flood to one does not hide what comes to another. */
const firstOfHook = { kept: 50, bytes: 8 * 1024 * 1024 } as const;
/** What one delivery may take: where there is no room for that, none is read to find out. */
const mostOfOneBytes = 512 * 1024;

function openRegistry(onDelivery: (delivery: Delivery) => void, most: StorageBounds): Registry {
  const hooks = new Map<string, OpenHook>();
  let [kept, keptBytes] = [0, 0];
  const isFull = (keptOfHook: number): boolean =>
    keptOfHook < firstOfHook.kept
      ? keptBytes > firstOfHook.bytes - mostOfOneBytes
      : kept >= most.kept || keptBytes > most.bytes - mostOfOneBytes;
  const hasRoom = (bytes: number, keptOfHook: number): boolean => {
    const isFirst = keptOfHook < firstOfHook.kept && keptBytes + bytes <= firstOfHook.bytes;
    const isKept = isFirst || (kept < most.kept && keptBytes + bytes <= most.bytes);
    if (isKept) [kept, keptBytes] = [kept + 1, keptBytes + bytes];
    return isKept;
  };
  return {
    place: (record, baseUrl) => {
      const url = `${baseUrl}/${record.token}/${record.name}`;
      const opened = openHook({ ...record, url, hasRoom, isFull, onDelivery });
      hooks.set(record.token, opened);
      return opened.hook;
    },
    at: (token, name) => {
      const opened = hooks.get(token);
      return opened?.hook.name === name ? opened : undefined;
    },
    deliveries: () => [...hooks.values()].flatMap(({ hook }) => hook.deliveries()).toSorted(byArrival),
    unkept: () =>
      Object.fromEntries(
        [...hooks.values()].flatMap(({ hook }) => (hook.droppedCount() > 0 ? [[hook.name, hook.droppedCount()]] : [])),
      ),
    records: () => [...hooks.values()].map(({ record }) => record()),
    close: () => {
      for (const { close } of hooks.values()) close();
    },
  };
}

const numberOf = ({ id }: Delivery): number => Number(id.slice(1));
const byArrival = (a: Delivery, b: Delivery): number => numberOf(a) - numberOf(b);

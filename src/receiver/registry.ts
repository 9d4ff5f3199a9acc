import type { Delivery } from "../evidence/delivery.ts";
import { type Hook, type HookRecord, type OpenHook, openHook } from "./hook.ts";

/** The hooks of a receiver. */
export interface Registry {
  readonly place: (record: HookRecord, baseUrl: string) => Hook;
  readonly at: (token: string, name: string) => OpenHook | undefined;
  /** What has come to all hooks, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  readonly records: () => readonly HookRecord[];
  readonly close: () => void;
}

/** Bodies that are kept, all together; later deliveries are counted only. */
const mostKeptBytes = 256 * 1024 * 1024;

export function openRegistry(onDelivery: (delivery: Delivery) => void): Registry {
  const hooks = new Map<string, OpenHook>();
  let keptBytes = 0;
  const hasRoom = (bytes: number): boolean => {
    keptBytes += bytes;
    return keptBytes <= mostKeptBytes;
  };
  return {
    place: (record, baseUrl) => {
      const url = `${baseUrl}/${record.token}/${record.name}`;
      const opened = openHook({ ...record, url, hasRoom, onDelivery });
      hooks.set(record.token, opened);
      return opened.hook;
    },
    at: (token, name) => {
      const opened = hooks.get(token);
      return opened?.hook.name === name ? opened : undefined;
    },
    deliveries: () => [...hooks.values()].flatMap(({ hook }) => hook.deliveries()).toSorted(byArrival),
    records: () => [...hooks.values()].map(({ record }) => record()),
    close: () => {
      for (const { close } of hooks.values()) close();
    },
  };
}

const numberOf = ({ id }: Delivery): number => Number(id.slice(1));
const byArrival = (a: Delivery, b: Delivery): number => numberOf(a) - numberOf(b);

import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { tryParseJson } from "../../base/json.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { deliverySchema } from "../../evidence/delivery.ts";
import type { WatchedDeliveries } from "../../suites/deliveries/watch.ts";

const lineSchema = z.union([
  z.object({ began: z.number().describe("The receiver has begun to listen.") }),
  z.object({ listening: z.number().describe("It listens still.") }),
  z.object({
    delivery: deliverySchema.describe("It came, or what became of it has changed: the last line of an id counts."),
  }),
]);

/** A line of `watch.jsonl`. Times are milliseconds since the start of the run. */
export type JournalLine = { readonly began: number } | { readonly listening: number } | { readonly delivery: Delivery };

const fileOf = (folder: string): string => join(folder, "watch.jsonl");

/**
 * `watch.jsonl`: what a receiver saw after a run, a JSON object a line. A delivery is on the disk before the next thing happens, so
 * that nothing that was seen is lost, however the process ends.
 */
export interface Journal {
  readonly add: (line: JournalLine) => void;
  readonly close: () => void;
}

export function openJournal(folder: string): Journal {
  const file = openSync(fileOf(folder), "a", 0o600);
  // A receiver that echoes shows the webhooks' own secrets; an older file may be open to all.
  fchmodSync(file, 0o600);
  // A line that was torn by the end of an earlier process must not swallow the next one.
  if (fstatSync(file).size > 0) writeSync(file, "\n");
  return {
    add: (line) => {
      writeSync(file, `${JSON.stringify(line)}\n`);
      if (!("listening" in line)) fsyncSync(file);
    },
    close: () => closeSync(file),
  };
}

/** Lines that cannot be read, such as a torn last one, are skipped. */
export function readJournal(folder: string): JournalLine[] {
  if (!existsSync(fileOf(folder))) return [];
  return readFileSync(fileOf(folder), "utf8")
    .split("\n")
    .flatMap((text) => {
      const line = lineSchema.safeParse(tryParseJson(text));
      return line.success ? [line.data] : [];
    });
}

export const removeJournal = (folder: string): void => rmSync(fileOf(folder), { force: true });

/** What the lines of a journal tell, taken in one after another. */
export interface WatchAccumulator {
  readonly add: (line: JournalLine) => void;
  /** @param isListening whether somebody listens at `untilMs`, which is now */
  readonly upTo: (untilMs: number, isListening: boolean) => WatchedDeliveries;
}

/** How often a receiver says that it listens still. */
export const heartbeatIntervalMs = 5000;
/** Between two signs of life there is never more than this, unless the machine was asleep. */
const mostSilentMs = 2 * heartbeatIntervalMs;

/**
 * @param sinceMs until then the run itself had listened
 * @param seen what the run itself saw
 */
export function accumulateWatch(sinceMs: number, seen: readonly Delivery[]): WatchAccumulator {
  const deliveries = new Map(seen.map((each) => [each.id, each]));
  const unwatched: { fromMs: number; toMs: number }[] = [];
  let heardMs = sinceMs;
  return {
    add: (line) => {
      const atMs = timeOf(line);
      if ("began" in line || atMs - heardMs > mostSilentMs) unwatched.push({ fromMs: heardMs, toMs: atMs });
      if ("delivery" in line) deliveries.set(line.delivery.id, line.delivery);
      heardMs = Math.max(heardMs, atMs);
    },
    upTo: (untilMs, isListening) => {
      const isUnheard = !isListening || untilMs - heardMs > mostSilentMs;
      const rest = isUnheard ? [{ fromMs: heardMs, toMs: untilMs }] : [];
      return { deliveries: [...deliveries.values()], untilMs, unwatched: [...unwatched, ...rest] };
    },
  };
}

function timeOf(line: JournalLine): number {
  if ("began" in line) return line.began;
  return "listening" in line ? line.listening : line.delivery.receivedMs;
}

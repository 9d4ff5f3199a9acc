import { closeSync, existsSync, fchmodSync, fstatSync, fsyncSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { writeText } from "../../base/files/write-text.ts";
import { tryParseJson } from "../../base/json.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { deliverySchema } from "../../evidence/delivery.ts";
import type { WatchedDeliveries } from "../../suites/deliveries/watch.ts";

const lineSchema = z.union([
  z.object({ began: z.number().describe("The receiver listens without a gap from now on.") }),
  z.object({ listening: z.number().describe("It listens still.") }),
  z.object({
    delivery: deliverySchema.describe("It came, or what became of it has changed: the last line of an id counts."),
  }),
]);

/**
 * A line of `watch.jsonl`: when the receiver began to listen, that it still listens, or a delivery. Times are in
 * milliseconds since the start of the run.
 */
export type JournalLine = { readonly began: number } | { readonly listening: number } | { readonly delivery: Delivery };

const fileOf = (folder: string): string => join(folder, "watch.jsonl");

/**
 * Writer of the file `watch.jsonl`, with a line of JSON for each delivery that arrives after a run. Each line is
 * flushed to disk at once, so that a killed process loses none.
 */
export interface Journal {
  readonly add: (line: JournalLine) => void;
  readonly close: () => void;
}

export function openJournal(folder: string): Journal {
  const file = openSync(fileOf(folder), "a", 0o600);
  // Only this user may read the file, also if it existed before, because deliveries may contain webhook secrets.
  fchmodSync(file, 0o600);
  // A killed process may have left an incomplete last line. The line feed ends it, so that the next line stays
  // readable.
  let begin = fstatSync(file).size > 0 ? "\n" : "";
  return {
    add: (line) => {
      const text = `${begin}${JSON.stringify(line)}\n`;
      begin = "\n";
      writeText(file, text);
      if (!("listening" in line)) fsyncSync(file);
      begin = "";
    },
    close: () => closeSync(file),
  };
}

/** Reads the journal. Skips lines that cannot be parsed, such as an incomplete last line. */
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

/** Computes from the lines of a journal which deliveries arrived, and at which times no receiver listened. */
export interface WatchAccumulator {
  readonly add: (line: JournalLine) => void;
  /**
   * Returns the deliveries up to now, and the times without a receiver.
   *
   * @param untilMs the time now, in milliseconds since the start of the run
   * @param isListening whether the receiver is listening now
   */
  readonly upTo: (untilMs: number, isListening: boolean) => WatchedDeliveries;
}

/** How often a line in the journal says that the receiver still listens. */
export const heartbeatIntervalMs = 5000;
/**
 * If there is no line in the journal for longer than this, the receiver did not listen meanwhile, for example because
 * the machine was asleep.
 */
const maxSilenceMs = 2 * heartbeatIntervalMs;

/**
 * Creates an accumulator for the lines of a journal.
 *
 * @param sinceMs when the run itself stopped listening
 * @param received deliveries that arrived during the run
 */
export function accumulateWatch(sinceMs: number, received: readonly Delivery[]): WatchAccumulator {
  const deliveries = new Map(received.map((each) => [each.id, each]));
  const unwatched: { fromMs: number; toMs: number }[] = [];
  let lastLineMs = sinceMs;
  return {
    add: (line) => {
      const atMs = timeOf(line);
      if ("began" in line || atMs - lastLineMs > maxSilenceMs) unwatched.push({ fromMs: lastLineMs, toMs: atMs });
      if ("delivery" in line) deliveries.set(line.delivery.id, line.delivery);
      lastLineMs = Math.max(lastLineMs, atMs);
    },
    upTo: (untilMs, isListening) => {
      const isSilent = !isListening || untilMs - lastLineMs > maxSilenceMs;
      const rest = isSilent ? [{ fromMs: lastLineMs, toMs: untilMs }] : [];
      return { deliveries: [...deliveries.values()], untilMs, unwatched: [...unwatched, ...rest] };
    },
  };
}

function timeOf(line: JournalLine): number {
  if ("began" in line) return line.began;
  return "listening" in line ? line.listening : line.delivery.receivedMs;
}

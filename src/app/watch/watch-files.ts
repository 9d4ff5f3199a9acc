import { existsSync, readFileSync, rmSync, closeSync, fchmodSync, fstatSync, fsyncSync, openSync } from "node:fs";
import { join, resolve } from "node:path";

import { z } from "zod";

import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { type DeepReadonly, tryParseJson } from "../../base/json.ts";
import type { ReceiverRecord } from "../../receiver/receiver.ts";
import { replaceFile, writeText } from "../../base/files/replace-file.ts";
import { UseCaseError } from "../use-case-error.ts";
import type { ListeningState } from "../judge/run-and-report.ts";
import { type Delivery, deliverySchema } from "../../evidence/delivery.ts";
import type { WatchedDeliveries } from "../../suites/deliveries/retry-evidence.ts";

const headersSchema = z.array(z.tuple([z.string(), z.string()]));
const statusSchema = z.int();

const replySchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("status"),
    status: statusSchema,
    headers: headersSchema.exactOptional(),
    body: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("held"), status: statusSchema }),
  z.object({ kind: z.literal("reset") }),
  z.object({ kind: z.literal("silence") }),
  z.object({ kind: z.literal("endless"), status: statusSchema }),
  z.object({ kind: z.literal("verify") }),
]);

const hookSchema = z.object({
  name: z.string(),
  token: z.string(),
  secret: z.string().nullable(),
  otherSecrets: z.array(z.string()).exactOptional(),
  takesReads: z.boolean().exactOptional(),
  since: z.string().exactOptional(),
  replies: z.array(replySchema),
  arrivals: z.int(),
  isReleased: z.boolean(),
});

const receiverSchema: z.ZodType<ReceiverRecord> = z.object({
  listen: z.string(),
  publicUrl: z.string().nullable(),
  hooks: z.array(hookSchema),
  deliveries: z.int(),
});

const stateSchema = z.object({
  format: z.literal("agent-hosting-conformance/watch/1"),
  receiver: receiverSchema,
  epochMs: z.number(),
  /** Time at which the watch takes over from the run, in milliseconds since the start of the run. */
  sinceMs: z.number(),
  /** Target file of the run, or `null`. The watch reads the file's keys again, to redact them in the new report. */
  targetFile: z.string().nullable(),
});

/** The content of `watch.json`. A later process can resume the wait for webhook deliveries from this state. */
export type WatchState = Readonly<z.infer<typeof stateSchema>>;

const stateFileName = "watch.json";

export function writeFirstState(
  folder: string,
  listened: ListeningState | null,
  targetFile: string | undefined,
): WatchState {
  if (listened === null)
    throw new UsageError(line`Nothing is left to watch: the run did not listen for deliveries. Its report says why.`);
  const { receiver, live, epochMs } = listened;
  const sinceMs = live === null ? listened.untilMs : Date.now() - epochMs;
  const state: WatchState = {
    format: "agent-hosting-conformance/watch/1",
    receiver,
    epochMs,
    sinceMs,
    targetFile: targetFile === undefined ? null : resolve(targetFile),
  };
  try {
    // The file contains webhook secrets, so only its owner may read it.
    replaceFile(join(folder, stateFileName), `${JSON.stringify(state, null, 2)}\n`, 0o600);
  } catch (error) {
    throw new UseCaseError({ kind: "unwritable watch", folder, reason: errorCodeOrText(error) });
  }
  return state;
}

export function readState(folder: string): WatchState {
  const file = join(folder, stateFileName);
  if (!existsSync(file)) throw new UseCaseError({ kind: "nothing to watch", folder, file: stateFileName });
  const parsed = stateSchema.safeParse(tryParseJson(readFileSync(file, "utf8")));
  if (parsed.success) return parsed.data;
  throw new UseCaseError({ kind: "unreadable watch", file });
}

const lineSchema = z.union([
  z.object({ began: z.number().describe("The receiver listens without a gap from now on.") }),
  z.object({ listening: z.number().describe("It listens still.") }),
  z.object({
    delivery: deliverySchema.describe("It came, or what became of it has changed: the last line of an id counts."),
  }),
]);

/** A line of the journal `watch.jsonl`. Times are in milliseconds since the start of the run. */
export type JournalLine = DeepReadonly<z.infer<typeof lineSchema>>;

const fileOf = (folder: string): string => join(folder, "watch.jsonl");

/** The journal `watch.jsonl`. `add` appends a line. Each delivery is flushed to disk, so that a crash does not lose it. */
export type Journal = ReturnType<typeof openJournal>;

export function openJournal(folder: string) {
  const file = openSync(fileOf(folder), "a", 0o600);
  // Deliveries may contain webhook secrets, so only the user of this process may read the file.
  fchmodSync(file, 0o600);
  // Begins the first new line with a line feed, because a killed process may have left an incomplete line.
  let begin = fstatSync(file).size > 0 ? "\n" : "";
  return {
    add: (entry: JournalLine): void => {
      const text = `${begin}${JSON.stringify(entry)}\n`;
      begin = "\n";
      writeText(file, text);
      if (!("listening" in entry)) fsyncSync(file);
      begin = "";
    },
    close: (): void => closeSync(file),
  };
}

/** Reads the journal. Skips lines that cannot be parsed, such as an incomplete last line. */
export function readJournal(folder: string): JournalLine[] {
  if (!existsSync(fileOf(folder))) return [];
  return readFileSync(fileOf(folder), "utf8")
    .split("\n")
    .flatMap((text) => {
      const entry = lineSchema.safeParse(tryParseJson(text));
      return entry.success ? [entry.data] : [];
    });
}

export function deleteWatchFiles(folder: string): void {
  for (const file of [join(folder, stateFileName), fileOf(folder)]) rmSync(file, { force: true });
}

export const heartbeatIntervalMs = 5000;
/** Maximum time between two lines of the journal. A longer time counts as unwatched: the machine may have slept. */
const maxSilenceMs = 2 * heartbeatIntervalMs;

export function createWatchAccumulator(sinceMs: number, received: readonly Delivery[]) {
  const deliveries = new Map(received.map((each) => [each.id, each]));
  const unwatched: { fromMs: number; toMs: number }[] = [];
  let lastLineMs = sinceMs;
  return {
    add: (entry: JournalLine): void => {
      const atMs = timeOf(entry);
      if ("began" in entry || atMs - lastLineMs > maxSilenceMs) unwatched.push({ fromMs: lastLineMs, toMs: atMs });
      if ("delivery" in entry) deliveries.set(entry.delivery.id, entry.delivery);
      lastLineMs = Math.max(lastLineMs, atMs);
    },
    upTo: (untilMs: number, isListening: boolean): WatchedDeliveries => {
      const isSilent = !isListening || untilMs - lastLineMs > maxSilenceMs;
      const rest = isSilent ? [{ fromMs: lastLineMs, toMs: untilMs }] : [];
      return { deliveries: [...deliveries.values()], untilMs, unwatched: [...unwatched, ...rest] };
    },
  };
}

function timeOf(entry: JournalLine): number {
  if ("began" in entry) return entry.began;
  return "listening" in entry ? entry.listening : entry.delivery.receivedMs;
}

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

import { z } from "zod";

import { errorCodeOrText } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
import type { ReceiverRecord } from "../../receiver/receiver.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { UseCaseError } from "../use-case-error.ts";
import type { ListeningState } from "../judge/redacted-run.ts";

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
  replies: z.array(replySchema),
  arrivals: z.int(),
  isReleased: z.boolean(),
});

const receiverSchema = z.object({
  listen: z.string(),
  publicUrl: z.string().nullable(),
  hooks: z.array(hookSchema),
  deliveries: z.int(),
}) satisfies z.ZodType<ReceiverRecord>;

const stateSchema = z.object({
  format: z.literal("agent-hosting-conformance/watch/1"),
  receiver: receiverSchema,
  epochMs: z.number(),
  sinceMs: z.number(),
  targetFile: z.string().nullable(),
});

/** The content of `watch.json`, with which a later process can listen for the webhook deliveries of a run. */
export interface WatchState {
  readonly format: "agent-hosting-conformance/watch/1";
  readonly receiver: ReceiverRecord;
  /** Start of the run, in Unix milliseconds. */
  readonly epochMs: number;
  /** When the run ended and the watch began, in milliseconds since the start of the run. */
  readonly sinceMs: number;
  /** The target file of the run, whose keys must be redacted in the new report. `null` if the target came from flags. */
  readonly targetFile: string | null;
}

const stateFileName = "watch.json";

/**
 * Writes `watch.json` at the end of a run, so that a watch can begin.
 *
 * @throws {UsageError} if the run did not listen for deliveries
 * @throws {UseCaseError} if the folder cannot be written
 */
export function writeFirstState(
  folder: string,
  listened: ListeningState | null,
  targetFile: string | undefined,
): WatchState {
  if (listened === null)
    throw new UsageError(line`Nothing is left to watch: the run did not listen for deliveries. Its report says why.`);
  const { receiver, live, epochMs } = listened;
  const sinceMs = live === null ? listened.untilMs : Date.now() - epochMs;
  const format = "agent-hosting-conformance/watch/1";
  const file = targetFile === undefined ? null : resolve(targetFile);
  const state: WatchState = { format, receiver, epochMs, sinceMs, targetFile: file };
  try {
    // The file contains webhook secrets, so only its owner may read it.
    replaceFile(join(folder, stateFileName), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new UseCaseError({ kind: "unwritable watch", folder, reason: errorCodeOrText(error) });
  }
  return state;
}

/**
 * Reads `watch.json`.
 *
 * @throws {UseCaseError} if the folder has no valid file of this name
 */
export function readState(folder: string): WatchState {
  const file = join(folder, stateFileName);
  if (!existsSync(file)) throw new UseCaseError({ kind: "nothing to watch", folder, file: stateFileName });
  const parsed = stateSchema.safeParse(tryParseJson(readFileSync(file, "utf8")));
  if (parsed.success) return parsed.data;
  throw new UseCaseError({ kind: "unreadable watch", file });
}

export const removeState = (folder: string): void => rmSync(join(folder, stateFileName), { force: true });

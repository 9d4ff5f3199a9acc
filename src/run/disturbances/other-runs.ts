import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { hourMs } from "../../base/duration.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
import type { Target } from "../../target/target.ts";

/**
 * The announcement of a run to other runs on this machine, in a file. Two runs can thus detect that they share a key.
 */
export interface RunAnnouncement {
  /** Returns the keys that other runs use too, and since when (Unix ms). Ignores runs that ended before `fromMs`. */
  readonly shared: (fromMs?: number) => { readonly sinceMs: number; readonly keys: readonly string[] } | null;
  readonly close: () => void;
}

const announcementSchema = z.object({
  host: z.string(),
  pid: z.number(),
  startedMs: z.number(),
  endedMs: z.number().nullable(),
  /** For each key of the run, a hash of the base URL and the key. The file must not reveal a key. */
  keys: z.array(z.string()),
});
type AnnouncementFile = z.infer<typeof announcementSchema>;

/** Interval at which a run updates the modification time of its file, to show that the run is alive. */
const touchIntervalMs = 5000;
/** Time for which a run counts as alive after the last modification of its file, unless its process has ended. */
const maxSilenceMs = 30_000;
/** Files of earlier runs are deleted if they were not modified for this time. */
const maxFileAgeMs = 24 * hourMs;

// The folder name contains the user's numeric id, because a user in a container may have no name.
const defaultFolder = (): string => join(tmpdir(), `agent-hosting-conformance-${process.getuid?.() ?? "user"}`);

export function announceRun(
  { baseUrl, keys }: Pick<Target, "baseUrl" | "keys">,
  folder = defaultFolder(),
): RunAnnouncement {
  const path = join(folder, `${randomUUID()}.json`);
  const nameByHash = new Map(Object.values(keys).map(({ key, name }) => [hashOf(baseUrl, key), name]));
  const own: AnnouncementFile = {
    host: hostname(),
    pid: process.pid,
    startedMs: increasingUnixMs(),
    endedMs: null,
    keys: [...nameByHash.keys()],
  };
  nullIfFailed(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeOldFiles(folder);
    writeFileSync(path, JSON.stringify(own), { mode: 0o600 });
  });
  const timer = setInterval(
    () => nullIfFailed(() => utimesSync(path, new Date(), new Date())),
    touchIntervalMs,
  ).unref();
  return {
    shared: (fromMs = own.startedMs) => {
      const others = otherRunsIn(folder, path, fromMs).filter((each) => each.keys.some((key) => nameByHash.has(key)));
      if (others.length === 0) return null;
      const sinceMs = others.reduce((first, { startedMs }) => Math.min(first, startedMs), Infinity);
      const names = others.flatMap((each) => each.keys.flatMap((key) => nameByHash.get(key) ?? []));
      return { sinceMs: Math.max(sinceMs, fromMs), keys: [...new Set(names)] };
    },
    close: () => {
      clearInterval(timer);
      nullIfFailed(() => writeFileSync(path, JSON.stringify({ ...own, endedMs: increasingUnixMs() }), { mode: 0o600 }));
    },
  };
}

let lastUnixMs = 0;

function increasingUnixMs(): number {
  lastUnixMs = Math.max(Date.now(), lastUnixMs + 0.001);
  return lastUnixMs;
}

function hashOf(baseUrl: string, key: string): string {
  const address = baseUrl.replace(/\/\/(localhost|\[::1\])(?=[:/])/, "//127.0.0.1");
  return createHash("sha256").update(`${address}\n${key}`).digest("hex");
}

function otherRunsIn(folder: string, ownPath: string, sinceMs: number): AnnouncementFile[] {
  const paths = nullIfFailed(() => readdirSync(folder).map((name) => join(folder, name))) ?? [];
  return paths.flatMap((path): AnnouncementFile[] => {
    const modifiedMs = path === ownPath ? null : nullIfFailed(() => statSync(path).mtimeMs);
    // Skips an old file without reading it, because its run has ended. Reading thousands of old files could take longer
    // than a run.
    if (modifiedMs === null || modifiedMs + maxSilenceMs <= sinceMs) return [];
    const run = readAnnouncement(path);
    if (run === null) return [];
    const endedMs = run.endedMs ?? (hasProcessEnded(run) ? modifiedMs : modifiedMs + maxSilenceMs);
    return endedMs > sinceMs ? [run] : [];
  });
}

/** Whether the process of a run has ended. `false` for a process on another machine, which cannot be checked. */
function hasProcessEnded({ host, pid }: AnnouncementFile): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCodeOrText(error) === "ESRCH";
  }
}

function readAnnouncement(path: string): AnnouncementFile | null {
  const text = nullIfFailed(() => readFileSync(path, "utf8"));
  return text === null ? null : (announcementSchema.safeParse(tryParseJson(text)).data ?? null);
}

function removeOldFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < Date.now() - maxFileAgeMs) rmSync(path, { force: true });
  }
}

/** Runs a file operation. Returns `null` if the operation fails, e.g. because another process removed the file. */
function nullIfFailed<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

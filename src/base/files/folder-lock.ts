import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve, sep } from "node:path";

import { z } from "zod";

import { errorCodeOrText } from "../errors.ts";
import { tryParseJson } from "../json.ts";
import { hasEnded, temporaryName, thisProcess } from "./output-folders.ts";

export const lockName = ".conformance-lock.json";

const renewalIntervalMs = 5000;
/** Another process may take a lock that its holder has not renewed for this long, even if the holder still runs. */
const staleAfterMs = 30_000;

const lockSchema = z.object({
  host: z.string(),
  pid: z.int(),
  machine: z.string(),
  since: z.iso.datetime(),
  renewed: z.iso.datetime(),
});

type LockHolder = z.infer<typeof lockSchema>;

export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
  readonly code = "in use";
}

interface HeldLock {
  readonly file: string;
  readonly descriptor: number;
  readonly timer: NodeJS.Timeout;
}

const heldLocks = new Map<string, HeldLock>();
process.on("exit", releaseFolders);

/**
 * Locks an existing folder for this process, until {@link releaseFolders} is called or the process ends.
 * @throws {FolderInUse} if another process, or this process, has already locked the folder
 */
export function lockFolder(folder: string): void {
  const file = join(folder, lockName);
  if (heldLocks.has(folder)) throw folderInUseError(folder, readLock(file));
  const descriptor = createLock(file) ?? (removeStale(folder, file), createLock(file));
  if (descriptor === null) throw folderInUseError(folder, readLock(file));
  const since = new Date().toISOString();
  const renew = (): void => writeLock(descriptor, since);
  try {
    renew();
  } catch (error) {
    closeSync(descriptor);
    rmSync(file, { force: true });
    throw error;
  }
  const timer = setInterval(() => {
    try {
      renew();
    } catch {
      // Ignores a failed renewal. If another process takes the lock, `assertLocked` detects that.
    }
  }, renewalIntervalMs).unref();
  heldLocks.set(folder, { file, descriptor, timer });
}

/**
 * Checks that this process has not lost its lock on a folder, or on a folder around it. Call this before writing
 * results: while this process is suspended, another process may take the lock.
 *
 * @throws {FolderInUse} if another process has taken a lock of this process
 */
export function assertLocked(folder: string): void {
  const path = resolve(folder);
  for (const [locked, { file }] of heldLocks) {
    const holder = path === locked || path.startsWith(`${locked}${sep}`) ? readLock(file) : null;
    if (holder !== null && !isOfThisProcess(holder)) throw folderInUseError(locked, holder);
  }
}

export function releaseFolders(): void {
  for (const [folder, { file, descriptor, timer }] of heldLocks) {
    heldLocks.delete(folder);
    clearInterval(timer);
    closeSync(descriptor);
    const holder = readLock(file);
    if (holder !== null && isOfThisProcess(holder)) removeIfPossible(file);
  }
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Ignores the error. A leftover lock file does no harm: its `pid` shows that this process has ended.
  }
}

const isOfThisProcess = ({ machine, pid }: LockHolder): boolean =>
  machine === thisProcess.machine && pid === thisProcess.pid;

function createLock(file: string): number | null {
  try {
    return openSync(file, "wx");
  } catch (error) {
    if (errorCodeOrText(error) === "EEXIST") return null;
    throw error;
  }
}

/** Writes the lock file. A renewal overwrites a text of the same length, which works even if the disk is full. */
function writeLock(descriptor: number, since: string): void {
  const lock: LockHolder = { host: hostname(), ...thisProcess, since, renewed: new Date().toISOString() };
  writeSync(descriptor, `${JSON.stringify(lock)}\n`, 0);
}

/** Removes a stale lock file. Renames and rereads it first, because another process may have replaced it. */
function removeStale(folder: string, file: string): void {
  if (!isStale(file)) return;
  const taken = join(folder, temporaryName());
  try {
    renameSync(file, taken);
  } catch (error) {
    if (errorCodeOrText(error) === "ENOENT") return;
    throw error;
  }
  if (isStale(taken)) rmSync(taken, { force: true });
  else renameSync(taken, file);
}

function isStale(file: string): boolean {
  const holder = readLock(file);
  // Another process may have just created the lock file without writing to it yet. So a lock file without a holder is
  // stale only if it is old.
  if (holder === null) return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - staleAfterMs;
  const isOfEarlierProcess = isOfThisProcess(holder) || hasEnded(holder);
  return isOfEarlierProcess || Date.parse(holder.renewed) < Date.now() - staleAfterMs;
}

function readLock(file: string): LockHolder | null {
  try {
    const parsed = lockSchema.safeParse(tryParseJson(readFileSync(file, "utf8")));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

const folderInUseError = (folder: string, holder: LockHolder | null): FolderInUse =>
  new FolderInUse(
    `${folder} is in use by ${holder === null ? "another process" : `process ${holder.pid} on ${holder.host}, since ${holder.since}`}`,
  );

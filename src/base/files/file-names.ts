import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const prefix = ".tmp-";
/** Matches the names that {@link temporaryName} returns: a machine id, a process id, and a random part. */
const namePattern = /^\.tmp-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}(\.\w+)?$/;

/** Identifies this machine or container. Process ids can only be compared within one machine or container. */
const machineId = createHash("sha256").update(`${hostname()} ${processNamespace()}`).digest("hex").slice(0, 8);

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has process namespaces. On other systems, `machineId` depends on the host name alone.
    return "";
  }
}

export interface FileOwner {
  readonly machine: string;
  readonly pid: number;
}

export const thisProcess: FileOwner = { machine: machineId, pid: process.pid };

/** Whether the process that owns a file has ended; `false` for a process on another machine. */
export function hasEnded(owner: FileOwner): boolean {
  if (owner.machine !== machineId) return false;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    // `ESRCH` means that no process has this id. `EPERM` means that another user owns the process.
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

export const temporaryName = (extension = ""): string =>
  `${prefix}${machineId}-${process.pid}-${randomBytes(4).toString("hex")}${extension}`;

/** A temporary file that is older than this counts as abandoned, even if another machine created it. */
const maxAgeMs = 10 * 60_000;

export function sweepTemporaryFiles(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, owner = "", pid = ""] = namePattern.exec(name) ?? [];
      if (owner !== "" && isAbandoned(join(folder, name), { machine: owner, pid: Number(pid) }))
        rmSync(join(folder, name), { force: true });
    }
  } catch {
    // Ignores a failure to remove an old temporary file, because the file does no harm.
  }
}

const isAbandoned = (file: string, owner: FileOwner): boolean =>
  hasEnded(owner) || (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - maxAgeMs;

/** Turns a name into a part of a file name, of letters, digits and dashes. The result may be empty. */
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** Formats a time in UTC for the start of a file name: `2030-01-01T00-00-00-000Z`. Such names sort by time. */
export const timeInName = (instant: Date): string => instant.toISOString().replace(/[:.]/g, "-");

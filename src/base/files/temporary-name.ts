import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const prefix = ".tmp-";
/** Host, process and a random part, as {@link temporaryName} writes them. */
const namePattern = /^\.tmp-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}(\.\w+)?$/;

/**
 * Identifies the machine or container, within which process ids can be compared. The host name is not enough:
 * containers may share it.
 */
const machine = createHash("sha256").update(`${hostname()} ${processNamespace()}`).digest("hex").slice(0, 8);

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has namespaces.
    return "";
  }
}

/** The process that owns a file. */
export interface Owner {
  /** Digest of the name of its machine. */
  readonly machine: string;
  readonly pid: number;
}

export const thisProcess: Owner = { machine, pid: process.pid };

/** Whether a process of this machine has ended. `false` if it runs on another machine, because this machine cannot tell. */
export function hasEnded(owner: Owner): boolean {
  if (owner.machine !== machine) return false;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    // EPERM: it is another user's.
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/** Returns a new file name for a file that is not complete yet. */
export const temporaryName = (extension = ""): string =>
  `${prefix}${machine}-${process.pid}-${randomBytes(4).toString("hex")}${extension}`;

/** Longest time that a process of another machine may take to write one file. */
const maxAgeMs = 10 * 60_000;

/** Removes the temporary files in a folder that killed processes have left. Those of a running process stay. */
export function sweepTemporaryFiles(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, owner = "", pid = ""] = namePattern.exec(name) ?? [];
      if (owner !== "" && isLeft(join(folder, name), { machine: owner, pid: Number(pid) }))
        rmSync(join(folder, name), { force: true });
    }
  } catch {
    // A folder that cannot be read or swept may still be written.
  }
}

const isLeft = (file: string, owner: Owner): boolean =>
  hasEnded(owner) || (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - maxAgeMs;

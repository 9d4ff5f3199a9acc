import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";

const prefix = ".tmp-";
/** Matches the names that {@link temporaryName} returns: machine id, process id, random part, and any extension. */
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

interface FileOwner {
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

/** A temporary file that was not changed for this long counts as abandoned, even if its process still runs. */
const maxAgeMs = 10 * 60_000;

function sweepTemporaryFiles(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, owner = "", pid = ""] = namePattern.exec(name) ?? [];
      if (owner !== "" && isAbandoned(join(folder, name), { machine: owner, pid: Number(pid) }))
        rmSync(join(folder, name), { force: true });
    }
  } catch {
    // Ignores the error. An old temporary file that cannot be removed does no harm.
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

/** Maximum number of symbolic links to follow in one path. Linux has the same limit. */
const maxLinks = 40;

/** Follows symbolic links. Returns the path of the final file, even if that file does not exist yet. */
export function followLinks(file: string, depth = 0): string {
  const path = resolve(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  // Links in /proc/self/fd lead to pipes and sockets. These have no real path, so the given path is kept.
  if (stats !== undefined) return stats.isFile() ? realpathSync(path) : path;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  if (depth > maxLinks) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
  return followLinks(resolve(dirname(path), readlinkSync(path)), depth + 1);
}

/** Creates a folder and its parents. `mkdirSync` with `recursive: true` would never return on /proc. */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created the folder at the same time.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/**
 * Checks that a file could be written, without changing it. Creates its folder if missing.
 * @throws the error of `node:fs`, for example with the code `EACCES`
 */
export function checkWritable(file: string): void {
  const descriptor = descriptorOf(file);
  if (descriptor !== null) return void fstatSync(descriptor);
  const destination = followLinks(file);
  makeFolder(dirname(destination));
  const stats = statSync(destination, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
  if (stats !== undefined) accessSync(destination, constants.W_OK);
  // Writing creates or replaces a regular file, so its folder must be writable. No pipe is opened here, because closing
  // a pipe would end its reader's input.
  if (stats === undefined || stats.isFile()) checkFolderWritable(dirname(destination));
}

export function checkFolderWritable(folder: string): void {
  sweepTemporaryFiles(folder);
  const draft = join(folder, temporaryName());
  closeSync(openSync(draft, "wx"));
  rmSync(draft);
}

export function descriptorOf(file: string): number | null {
  const [, name, number] = /^\/dev\/(?:(stdout|stderr)|fd\/(\d+))$/.exec(resolve(file)) ?? [];
  if (name !== undefined) return name === "stdout" ? 1 : 2;
  return number === undefined ? null : Number(number);
}

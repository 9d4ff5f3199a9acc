import {
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, extname, join } from "node:path";

import { errorCodeOrText } from "../errors.ts";
import { descriptorOf, followLinks, temporaryName } from "./output-folders.ts";

/**
 * Creates or replaces a file in one step, so that an error leaves the old file intact. Pipes and devices are written
 * directly.
 *
 * @param mode permissions of the file; by default those of the file that it replaces
 * @throws the error of `node:fs`, for example with the code `EACCES`
 */
export function replaceFile(file: string, text: FileText, mode?: number): void {
  stageFile(file, text, mode).commit();
}

export interface StagedFile {
  readonly commit: () => void;
  readonly discard: () => void;
}

/**
 * Writes a text to a temporary file, which `commit` renames to `file`. If `file` is a pipe or device, `commit` writes
 * the text directly.
 *
 * @throws the error of `node:fs`, for example with the code `EACCES`
 */
export function stageFile(file: string, text: FileText, mode?: number): StagedFile {
  const destination = followLinks(file);
  const before = statSync(destination, { throwIfNoEntry: false });
  if (descriptorOf(file) !== null || before?.isFile() === false)
    return { commit: () => writeInPlace(file, text), discard() {} };
  const draft = join(dirname(destination), temporaryName());
  const discard = (): void => removeDraft(draft);
  drafts.add(draft);
  try {
    writeDraft(draft, text, mode, before);
  } catch (error) {
    discard();
    throw error;
  }
  return {
    discard,
    commit: () => {
      try {
        moveDraft(draft, destination);
      } finally {
        discard();
      }
    },
  };
}

/** A file for another program to write: a temporary file, or a pipe or device. */
export interface Draft {
  readonly path: string;
  /** Renames a temporary file to its final name. Returns `false` if the program has not created the file. */
  readonly commit: () => boolean;
}

/** Prepares a file for another program to write. Uses a temporary file, except for pipes and devices. */
export function temporaryFileFor(file: string): Draft {
  const destination = followLinks(file);
  const isInPlace = descriptorOf(file) !== null || statSync(destination, { throwIfNoEntry: false })?.isFile() === false;
  if (isInPlace) return { path: file, commit: () => true };
  const path = join(dirname(destination), temporaryName(extname(destination)));
  drafts.add(path);
  const commit = (): boolean => {
    try {
      if (!existsSync(path)) return false;
      moveDraft(path, destination);
      return true;
    } finally {
      removeDraft(path);
    }
  };
  return { path, commit };
}

/** Unfinished temporary files. They are removed if the process ends early. */
const drafts = new Set<string>();
process.on("exit", () => {
  for (const draft of drafts) rmSync(draft, { force: true });
});

function removeDraft(draft: string): void {
  drafts.delete(draft);
  rmSync(draft, { force: true });
}

function writeDraft(draft: string, text: FileText, mode: number | undefined, before: Stats | undefined): void {
  const descriptor = openSync(draft, "wx", mode ?? 0o666);
  try {
    if (before !== undefined) keepOwner(descriptor, before);
    if (mode !== undefined || before !== undefined) fchmodSync(descriptor, (mode ?? before?.mode ?? 0o666) & 0o7777);
    writeText(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function keepOwner(descriptor: number, { uid, gid }: Stats): void {
  const own = fstatSync(descriptor);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Ignores the error: most users cannot change a file's owner. The new file then belongs to this process's user.
  }
}

function moveDraft(draft: string, destination: string): void {
  try {
    renameSync(draft, destination);
  } catch (error) {
    // A file that is mounted into a container cannot be replaced (EBUSY). So its content is overwritten.
    if (errorCodeOrText(error) !== "EBUSY") throw error;
    copyFileSync(draft, destination);
  }
  syncFolder(dirname(destination));
}

/** Flushes the folder to disk, so that the new file name survives a power failure. Not possible on Windows. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Ignores the error: some file systems cannot flush a folder, but the file itself is complete.
  }
}

/** A text to write into a file: a string, or chunks, which save memory if the text is long. */
export type FileText = string | Iterable<string>;

/**
 * Writes to a pipe, a device, or an already open descriptor such as `/dev/stdout`. Never reopens the descriptor:
 * opening with `w` would truncate a redirected file.
 */
function writeInPlace(file: string, text: FileText): void {
  const inherited = descriptorOf(file);
  const descriptor = inherited ?? openSync(file, "w");
  try {
    writeText(descriptor, text);
  } finally {
    if (inherited === null) closeSync(descriptor);
  }
}

/** Collects text up to this many characters before each write, because many small writes are slow. */
const minWriteCharacters = 256 * 1024;

export function writeText(descriptor: number, text: FileText): void {
  let waiting = "";
  for (const piece of typeof text === "string" ? [text] : text) {
    waiting += piece;
    if (waiting.length < minWriteCharacters) continue;
    writeBytes(descriptor, Buffer.from(waiting));
    waiting = "";
  }
  writeBytes(descriptor, Buffer.from(waiting));
}

function writeBytes(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      // EAGAIN means that the reader of the pipe is slower than this process.
      if (errorCodeOrText(error) !== "EAGAIN") throw error;
      Atomics.wait(waitForReader, 0, 0, 5);
    }
  }
}

const waitForReader = new Int32Array(new SharedArrayBuffer(4));

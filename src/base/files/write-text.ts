import { closeSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";

import { errorCodeOrText } from "../errors.ts";

/** The text of a file, whole or in pieces: a long text may need more memory than everything else. */
export type FileText = string | Iterable<string>;

/** Returns the descriptor that a path such as `/dev/stdout` stands for; `null` for any other path. */
export function descriptorOf(file: string): number | null {
  const [, name, number] = /^\/dev\/(?:(stdout|stderr)|fd\/(\d+))$/.exec(resolve(file)) ?? [];
  if (name !== undefined) return name === "stdout" ? 1 : 2;
  return number === undefined ? null : Number(number);
}

/** Writes to a pipe, a device or an inherited descriptor, which may be a socket: a socket cannot be opened by its name. */
export function writeInPlace(file: string, text: FileText): void {
  const inherited = descriptorOf(file);
  const descriptor = inherited ?? openSync(file, "w");
  try {
    writeText(descriptor, text);
  } finally {
    if (inherited === null) closeSync(descriptor);
  }
}

/** Minimum number of characters in a write: many small writes are slow. */
const minWriteCharacters = 256 * 1024;

/** Writes a text to an open file. */
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
      // Waits because the reader of a pipe or a socket is slower than the writer.
      if (errorCodeOrText(error) !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));

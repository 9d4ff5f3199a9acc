import { closeSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";

import { errorCodeOrText } from "../errors.ts";

/** A text to write into a file: a string, or chunks, which save memory if the text is long. */
export type FileText = string | Iterable<string>;

/**
 * Returns the number of the file descriptor that a path such as `/dev/stdout` or `/dev/fd/3` stands for; `null` for any
 * other path.
 */
export function descriptorOf(file: string): number | null {
  const [, name, number] = /^\/dev\/(?:(stdout|stderr)|fd\/(\d+))$/.exec(resolve(file)) ?? [];
  if (name !== undefined) return name === "stdout" ? 1 : 2;
  return number === undefined ? null : Number(number);
}

/**
 * Writes directly to a pipe, a device or a descriptor such as /dev/stdout. The latter must not be opened by its path,
 * because it may be a socket.
 */
export function writeInPlace(file: string, text: FileText): void {
  const inherited = descriptorOf(file);
  const descriptor = inherited ?? openSync(file, "w");
  try {
    writeText(descriptor, text);
  } finally {
    if (inherited === null) closeSync(descriptor);
  }
}

/** Chunks are collected until they have this many characters, because many small writes are slow. */
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
      // EAGAIN: the reader of the pipe or socket is slower than this process, so the write is tried again a moment
      // later.
      if (errorCodeOrText(error) !== "EAGAIN") throw error;
      Atomics.wait(waitForReader, 0, 0, 5);
    }
  }
}

const waitForReader = new Int32Array(new SharedArrayBuffer(4));

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Thrown by {@link readRegularFile} if a path is a folder, a device or a pipe. */
export class NotARegularFile extends Error {
  override readonly name = "NotARegularFile";
}

/**
 * Reads the text of a regular file that the user named, up to `maxBytes`. Refuses devices, which may have no end.
 *
 * @throws {NotARegularFile}
 * @throws {Error} Node's own, with its `code`, if the file cannot be read
 */
export function readRegularFile(path: string, maxBytes: number): string {
  // Without O_NONBLOCK, `openSync` on a pipe would wait until some process writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new NotARegularFile(path);
    return readUpTo(maxBytes, file);
  } finally {
    closeSync(file);
  }
}

/**
 * Reads to the end of the file, or to `maxBytes`. The size of the file is not used, because files such as those in
 * /proc report a size of 0.
 */
function readUpTo(maxBytes: number, file: number): string {
  const bytes = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const read = readSync(file, bytes, length, maxBytes - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString("utf8", 0, length);
}

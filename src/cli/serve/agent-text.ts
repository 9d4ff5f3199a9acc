import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

import { mostAgentFileBytes } from "../../reference/reference.ts";

/** A folder, a device or a pipe, which has no content that ends. */
export class NoRegularFile extends Error {
  override readonly name = "NoRegularFile";
}

/**
 * The text of an agent configuration file; of one that is too large, a little more than is allowed.
 *
 * @throws {NoRegularFile}
 * @throws {Error} Node's own, with its `code`, where it cannot be read
 */
export function readAgentText(path: string): string {
  // A pipe that nobody writes to would be waited for while it is opened.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new NoRegularFile(`${path} is no regular file`);
    return upTo(mostAgentFileBytes + 1, file);
  } finally {
    closeSync(file);
  }
}

/** Files of the system have no size that could be asked for. */
function upTo(mostBytes: number, file: number): string {
  const bytes = Buffer.alloc(mostBytes);
  let length = 0;
  while (length < mostBytes) {
    const read = readSync(file, bytes, length, mostBytes - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString("utf8", 0, length);
}

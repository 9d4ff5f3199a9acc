import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Maximum number of links to follow. File systems have the same limit. */
const maxLinks = 40;

/** Returns the file to which symbolic links lead, even if it does not exist yet. */
export function followLinks(file: string, depth = 0): string {
  const path = resolve(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  // The links in /proc/self/fd lead to pipes and sockets, which have no path.
  if (stats !== undefined) return stats.isFile() ? realpathSync(path) : path;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  if (depth > maxLinks) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
  return followLinks(resolve(dirname(path), readlinkSync(path)), depth + 1);
}

import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents, one by one. Node's `mkdirSync` with `recursive: true` would never return on
 * a file system that rejects folders, such as /proc.
 *
 * @param mode permissions of new folders
 */
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

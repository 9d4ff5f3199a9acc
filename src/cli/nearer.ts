import { relative } from "node:path";

/** A path as a person in this folder would write it: relative where it lies below. */
export function displayPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { followLinks } from "../../base/files/follow-links.ts";
import { temporaryName } from "../../base/files/temporary-name.ts";
import { feedFileName, feedGenerator } from "../../report/registry/feed.ts";
import type { SiteFile } from "./site-files.ts";

/** Whether a folder may be replaced by a site: it is missing, empty, or a site that this program has made. */
export function isReplaceable(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return true;
  const feed = join(folder, feedFileName);
  return existsSync(feed) && readFileSync(feed, "utf8").includes(feedGenerator.source);
}

/**
 * Replaces a site in one step. If a file cannot be made or written, the old site is unchanged.
 *
 * @throws Node's own error
 */
export function writeSite(folder: string, files: readonly SiteFile[]): void {
  const place = followLinks(folder);
  const draft = join(dirname(place), temporaryName());
  try {
    for (const { path, content } of files) {
      mkdirSync(dirname(join(draft, path)), { recursive: true });
      writeFileSync(join(draft, path), content());
    }
    replaceFolder(place, draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function replaceFolder(place: string, draft: string): void {
  if (!existsSync(place)) return renameSync(draft, place);
  const old = join(dirname(place), temporaryName());
  renameSync(place, old);
  try {
    renameSync(draft, place);
  } catch (error) {
    renameSync(old, place);
    throw error;
  }
  rmSync(old, { recursive: true });
}

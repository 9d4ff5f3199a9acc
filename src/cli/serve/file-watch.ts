import { watch } from "node:fs";
import { dirname } from "node:path";

import { readAgentText } from "./agent-text.ts";

/** What became of a watched file. */
export type FileChange = { readonly kind: "content"; readonly content: string } | { readonly kind: "gone" };

/** A file that is being watched. */
export interface FileWatch {
  close(): void;
}

/** How long a file must be left alone before it is read: editors write in several steps. */
const quietMs = 120;
/** How long a file must be gone before it counts as removed: some editors remove it and write it anew. */
const goneMs = 400;
/** How often it is looked at in any case: not every file system tells of changes. */
const lookMs = 2000;

/**
 * Tells of every change of a file's content, and of its removal. The folder is watched and not the file, for an editor that
 * renames its copy over the file would leave a watch on the old one.
 */
export function watchFile(path: string, first: string, tell: (change: FileChange) => void): FileWatch {
  let known: string | null = first;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const look = (afterMs: number, isSecond = false): void => {
    clearTimeout(timer);
    timer = setTimeout(() => check(isSecond), afterMs);
  };
  const check = (isSecond: boolean): void => {
    const content = contentOf(path);
    if (closed || content === known) return;
    if (content === null && !isSecond) return look(goneMs, true);
    known = content;
    tell(content === null ? { kind: "gone" } : { kind: "content", content });
  };
  const stop = folderWatch(dirname(path), () => look(quietMs));
  const interval = setInterval(() => check(false), lookMs).unref();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
      clearInterval(interval);
      stop();
    },
  };
}

/** Without a watch, as on file systems that have none, the looks at intervals remain. */
function folderWatch(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

/** `null` where there is no such file; what cannot be read otherwise is as good as unchanged for the next look. */
function contentOf(path: string): string | null {
  try {
    return readAgentText(path);
  } catch {
    return null;
  }
}

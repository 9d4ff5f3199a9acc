import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { setFlagsFromString } from "node:v8";

export interface CacheEnvironment {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: () => string;
}

/**
 * Returns the folder for Node's compile cache, below the user's cache folder; `null` if the user has none. Returns
 * `undefined` if NODE_COMPILE_CACHE is set: Node then uses the folder that this variable names.
 */
export function compileCacheFolder({ platform, env, home }: CacheEnvironment = thisMachine): string | null | undefined {
  if (nonEmpty(env["NODE_COMPILE_CACHE"]) !== null) return undefined;
  const caches = userCacheFolder(platform, env, home);
  return caches === null ? null : join(caches, "agent-hosting-conformance");
}

const thisMachine: CacheEnvironment = { platform: process.platform, env: process.env, home: homedir };

function userCacheFolder(platform: NodeJS.Platform, env: CacheEnvironment["env"], home: () => string): string | null {
  const named = nonEmpty(env[platform === "win32" ? "LOCALAPPDATA" : "XDG_CACHE_HOME"]);
  if (named !== null && isAbsolute(named)) return named;
  try {
    return join(home(), platform === "darwin" ? "Library/Caches" : ".cache");
  } catch {
    // `homedir` throws if the user has no home folder, e.g. a container's user without an entry in /etc/passwd.
    return null;
  }
}

const nonEmpty = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);

/**
 * Makes V8 collect garbage early, which halves the memory of `conformance run`. Does nothing for other commands, or
 * for a run against the embedded server, because frequent collections would slow that server.
 */
export function collectGarbageOften([command, ...args]: readonly string[], baseUrl: string | undefined): void {
  const hasTarget = (baseUrl ?? "") !== "" || args.some((each) => /^--(base-url|target)(=|$)/.test(each));
  if (command !== "run" || !hasTarget) return;
  limitYoungGeneration();
  // With this flag, V8 saves memory: the heap grows by at most a third before a full collection.
  setFlagsFromString("--optimize-for-size");
}

/** Keeps V8's heap for new objects small. By default, it grows to 32 MB, which makes runs and loads no faster. */
export const limitYoungGeneration = (): void => setFlagsFromString("--semi-space-growth-factor=1");

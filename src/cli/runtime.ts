import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { setFlagsFromString } from "node:v8";

export interface CacheEnvironment {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: () => string;
}

/**
 * Returns a private folder for Node's compile cache; `null` if the user has no home. `undefined`: the variable
 * NODE_COMPILE_CACHE already sets the folder.
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
    // Node throws if the user has no home folder. In a container, a user may have no entry in /etc/passwd.
    return null;
  }
}

const nonEmpty = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);

/**
 * Makes V8 collect garbage early, which halves a run's memory. Has no effect with the embedded server, because frequent
 * collections slow the server.
 */
export function collectGarbageOften([command, ...args]: readonly string[], baseUrl: string | undefined): void {
  const hasTarget = (baseUrl ?? "") !== "" || args.some((each) => /^--(base-url|target)(=|$)/.test(each));
  if (command !== "run" || !hasTarget) return;
  limitYoungGeneration();
  // The V8 flag for small memory: the heap grows by at most a third before a full collection.
  setFlagsFromString("--optimize-for-size");
}

/** Keeps V8's heap for new objects at 8 MB. Runs and loads would be no faster with more. */
export const limitYoungGeneration = (): void => setFlagsFromString("--semi-space-growth-factor=1");

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { setFlagsFromString } from "node:v8";

/** What tells where a user's caches are. */
export interface CacheSurroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @throws where the user has none */
  readonly home: () => string;
}

/**
 * Where Node keeps what V8 made of the command's code, for the next start: the user's own folder for caches, into which nobody else can
 * put code. `undefined` where NODE_COMPILE_CACHE names another, `null` where there is none.
 */
export function compileCacheFolder({ platform, env, home }: CacheSurroundings = here): string | null | undefined {
  if (nonEmpty(env["NODE_COMPILE_CACHE"]) !== null) return undefined;
  const caches = cachesOf(platform, env, home);
  return caches === null ? null : join(caches, "agent-hosting-conformance");
}

const here: CacheSurroundings = { platform: process.platform, env: process.env, home: homedir };

function cachesOf(platform: NodeJS.Platform, env: CacheSurroundings["env"], home: () => string): string | null {
  const named = nonEmpty(env[platform === "win32" ? "LOCALAPPDATA" : "XDG_CACHE_HOME"]);
  if (named !== null && isAbsolute(named)) return named;
  try {
    return join(home(), platform === "darwin" ? "Library/Caches" : ".cache");
  } catch {
    // A container's user without an entry in the system's list.
    return null;
  }
}

const nonEmpty = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);

/**
 * Has V8 collect young garbage often, and not only where it comes to 96 MB, and old garbage before the heap has doubled. A run against somebody's
 * server waits for most of its time, and takes half of the memory so where that server sends much; what computes all the time, as with the
 * embedded server, would be a fifth slower.
 *
 * @param args of the command line, the command first
 */
export function collectGarbageOften([command, ...args]: readonly string[], baseUrl: string | undefined): void {
  const isSomebodys = (baseUrl ?? "") !== "" || args.some((each) => /^--(base-url|target)(=|$)/.test(each));
  if (command !== "run" || !isSomebodys) return;
  limitYoungGeneration();
  // V8 asks for this each time, too: the heap then grows by a third at the most before it looks at all of it.
  setFlagsFromString("--optimize-for-size");
}

/**
 * Has V8 leave the place for young garbage as large as loading the command has made it, some 8 MB: a run on the embedded server, or load, would
 * let it grow to 96 MB and more, and is no faster for it.
 */
export const limitYoungGeneration = (): void => setFlagsFromString("--semi-space-growth-factor=1");

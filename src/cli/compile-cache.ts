import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

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

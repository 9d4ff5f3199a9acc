import { describe, expect, it } from "vitest";

import { type CacheEnvironment, compileCacheFolder } from "./runtime.ts";

const nobody = (): string => {
  throw new Error("no such user");
};

describe("the folder of the compile cache", () => {
  it.each<[string, Partial<CacheEnvironment>, string | null | undefined]>([
    ["is the user's folder for caches", {}, "/home/ada/.cache/agent-hosting-conformance"],
    ["is the one that XDG_CACHE_HOME names", { env: { XDG_CACHE_HOME: "/x" } }, "/x/agent-hosting-conformance"],
    [
      "is not one that is named as seen from the working directory",
      { env: { XDG_CACHE_HOME: "x" } },
      "/home/ada/.cache/agent-hosting-conformance",
    ],
    ["is a Mac's", { platform: "darwin" }, "/home/ada/Library/Caches/agent-hosting-conformance"],
    ["is left to Node where the user told it", { env: { NODE_COMPILE_CACHE: "/n" } }, undefined],
    ["is none of a user without a home", { home: nobody }, null],
  ])("%s", (_, given, folder) => {
    expect(compileCacheFolder({ platform: "linux", env: {}, home: () => "/home/ada", ...given })).toBe(folder);
  });
});

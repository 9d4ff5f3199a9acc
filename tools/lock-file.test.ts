import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const dependencies = z.record(z.string(), z.string()).optional();
const lockFileSchema = z.object({
  packages: z.record(z.string(), z.object({ optionalDependencies: dependencies, optional: z.boolean().optional() })),
});
type Packages = z.infer<typeof lockFileSchema>["packages"];

/**
 * Optional packages that a lock file refers to but does not contain, as "package needs name". `npm ci` rejects such a
 * file.
 */
function missingOptionalPackages(packages: Packages): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in packages))
      .map((name) => `${path} needs ${name}`),
  );
}

/** Folders in which Node looks for the dependencies of the package at this path, the nearest first. */
function foldersAbove(path: string): string[] {
  const names = path === "" ? [] : path.split(/(?<=\/)(?=node_modules\/)/);
  return [...names.keys(), names.length]
    .map((count) =>
      names
        .slice(0, count)
        .join("")
        .replace(/(?<=[^/])$/, "/"),
    )
    .toReversed();
}

describe("the lock file", () => {
  it("holds every optional package, the binaries for other platforms included", () => {
    const text = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
    const { packages } = lockFileSchema.parse(JSON.parse(text));
    expect(Object.keys(packages).filter((path) => path.includes("darwin-arm64"))).not.toEqual([]);
    expect(missingOptionalPackages(packages)).toEqual([]);
  });

  it.each([
    ["at the top", "node_modules/b", []],
    ["below the package that needs it", "node_modules/a/node_modules/b", []],
    ["below another package", "node_modules/c/node_modules/b", ["node_modules/a needs b"]],
  ])("is searched for a package that lies %s", (_, path, missing) => {
    const packages = { "node_modules/a": { optionalDependencies: { b: "1" } }, [path]: { optional: true } };
    expect(missingOptionalPackages(packages)).toEqual(missing);
  });
});

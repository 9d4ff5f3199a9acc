import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { getAsset, getAssetKeys, isSea } from "node:sea";
import { fileURLToPath } from "node:url";

import { once } from "./memoize.ts";

/** Path prefix of the package's files in the single executable: `package/README.md`, for example. */
export const packageAssets = "package/";

/** Returns the package's root folder. The single executable first unpacks its files into a temporary folder. */
export const packageRoot = once(() => (isSea() ? unpacked() : rootAbove(dirname(fileURLToPath(import.meta.url)))));

export const readPackageFile = (path: string): string =>
  isSea() ? getAsset(packageAssets + path, "utf8") : readFileSync(join(packageRoot(), path), "utf8");

export const packageVersion = once((): string => {
  const parsed: unknown = JSON.parse(readPackageFile("package.json"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
});

function rootAbove(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return folder;
  const above = dirname(folder);
  if (above === folder)
    throw new Error("package.json of agent-hosting-conformance is missing: install the package again.");
  return rootAbove(above);
}

function unpacked(): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-hosting-conformance-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const key of getAssetKeys()) {
    if (!key.startsWith(packageAssets)) continue;
    const path = join(folder, key.slice(packageAssets.length));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, getAsset(key, "utf8"));
  }
  return folder;
}

export const userAgent = (runStarted?: Date): string => {
  const product = `agent-hosting-conformance/${packageVersion()}`;
  return runStarted === undefined ? product : `${product} (run ${runStarted.toISOString()})`;
};

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isSea } from "node:sea";
import { promisify } from "node:util";

import { harnessLimitOf } from "../../../base/harness-limit.ts";
import { EngineProblem } from "../../engine.ts";
import { packageRoot } from "../../../base/package-root.ts";

interface K6Binary {
  readonly path: string;
  readonly version: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const executable = process.platform === "win32" ? "k6.exe" : "k6";

/** Returns the path where `npm run k6:build` puts k6. The folder's name is a hash of `k6/go.mod` and `k6/go.sum`. */
export function builtBinary(root: string = packageRoot()): string {
  const hash = createHash("sha256");
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(root, "k6", name)));
  return join(root, ".cache", "k6", hash.digest("hex").slice(0, 16), executable);
}

/**
 * Finds k6 v2: the executable that `K6_BINARY` names. Without `K6_BINARY`: k6 on PATH, else k6 as built by
 * `npm run k6:build`.
 */
export async function findK6(
  environment: Environment = process.env,
  root: string | null = rootOfBuilt(),
): Promise<K6Binary> {
  const named = environment.K6_BINARY;
  if (named !== undefined && named !== "") {
    const version = await versionOf(named);
    if (version !== null && isVersion2(version)) return { path: named, version };
    throw new EngineProblem(
      `K6_BINARY is ${named}, which is ${version === null ? "not k6" : `k6 ${version}`}: name an executable of k6 v2, or unset it.`,
    );
  }
  for (const path of [findOnPath(environment), ...(root === null ? [] : [builtBinary(root)])]) {
    const version = path === null ? null : await versionOf(path);
    if (path !== null && version !== null && isVersion2(version)) return { path, version };
  }
  throw new EngineProblem(installInstructions(root));
}

/** Returns the folder of this package, where k6 is built; `null` in the single-file executable, which has no folder. */
const rootOfBuilt = (): string | null => (isSea() ? null : packageRoot());

function installInstructions(root: string | null): string {
  return [
    `This scenario needs k6 v2, which is not installed. Get it in one of ${root === null ? "two" : "three"} ways:`,
    "install k6 v2 (https://grafana.com/docs/k6/latest/set-up/install-k6/) so that `k6 version` finds it on PATH;",
    ...(root === null
      ? ["or set K6_BINARY to an executable of it."]
      : ["or set K6_BINARY to an executable of it;", buildCommand(root)]),
    "Scenarios that autocannon can send run without it: choose the engine autocannon.",
  ].join(" ");
}

/**
 * Returns instructions to build k6 in the current folder, not at {@link builtBinary}. Error messages would redact the
 * hash in that path, because it looks like an API key.
 */
const buildCommand = (root: string): string =>
  `or, where Go 1.25 or newer is installed, run: go build -C "${join(root, "k6")}" -o "$PWD/${executable}" go.k6.io/k6/v2 (a few minutes the first time), and set K6_BINARY="$PWD/${executable}".`;

const isVersion2 = (version: string): boolean => version.startsWith("v2.");

function findOnPath(environment: Environment): string | null {
  const folders = (environment.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, executable)).find((path) => existsSync(path)) ?? null;
}

async function versionOf(path: string): Promise<string | null> {
  if (!existsSync(path)) return null;
  try {
    const { stdout } = await promisify(execFile)(path, ["version"], { timeout: 20_000 });
    return /^k6(?:\.exe)? (v[0-9.]+)/.exec(stdout)?.[1] ?? null;
  } catch (error) {
    const limit = harnessLimitOf(error);
    if (limit !== null) throw limit;
    return null;
  }
}

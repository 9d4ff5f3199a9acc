// Installs dependencies and builds dist, unless both are up to date.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fingerprint, remember } from "./current.mjs";
import { capture } from "./process.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));
const inRoot = (...parts) => join(root, ...parts);
const installedNode = inRoot("node_modules", ".bin", "node");
const REQUIRED_NODE = 24;

/** An error that prevents the set-up, such as a failed `npm ci`. `detail` is the output of the failed command. */
export class SetupError extends Error {
  constructor(message, detail = "") {
    super(message);
    this.name = "SetupError";
    this.detail = detail.trim();
  }
}

/** Folder of Node's compile cache, which the tests share with the `conformance` commands that they start. */
export const compileCache = inRoot(".cache", "compile");

export function toolEnvironment() {
  return { ...process.env, PATH: inRoot("node_modules", ".bin") + delimiter + (process.env.PATH ?? "") };
}

export async function install() {
  if (isInstalled() && (await nodeIsReady())) return;
  process.stderr.write("Installing dependencies (the first time, or after package-lock.json changed) …\n");
  // With `NODE_ENV=production`, npm installs no development dependencies unless `--include=dev` is given.
  const options = ["--include=dev", "--no-audit", "--no-fund"];
  const { code, output } = await capture("npm", ["ci", ...options], { cwd: root, env: hostEnvironment() });
  if (code !== 0) throw installError(code, output);
  if (await nodeIsReady()) return;
  throw new SetupError(
    `npm installed the packages, but node_modules/.bin/node is not Node ${REQUIRED_NODE} or newer: its install script did not run. ` +
      "Allow it (`npm config get ignore-scripts` must be false), delete node_modules and try again.",
  );
}

/** Builds `dist`, unless it is up to date. A new folder replaces `dist` at the end, so that no old file remains. */
export async function build() {
  const digest = digestOfSources();
  const stamp = inRoot("dist", ".built-from");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  const fresh = inRoot(".cache", `dist-${randomUUID()}`);
  // The compiler writes the library with its types, and the bundler writes the command.
  const results = await Promise.all([
    runTool(tsc(), "-p", "tsconfig.build.json", "--noCheck", "--outDir", fresh),
    runTool(inRoot("tools", "bundle.ts"), join(fresh, "cli")),
  ]);
  const failed = results.filter(({ code }) => code !== 0);
  if (failed.length > 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new SetupError("The build failed: the output above says why.", failed.map(({ output }) => output).join("\n"));
  }
  writeFileSync(join(fresh, ".built-from"), digest);
  replaceDist(fresh);
}

/** Installs packages and builds `dist` if they are not up to date. Rejects with a `SetupError`. */
export async function setUp() {
  await install();
  const taken = fingerprint(root);
  await build();
  remember(root, taken);
}

export function reportSetupError(error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`${error.detail === "" ? "" : `${error.detail}\n`}${error.message}\n`);
}

function isInstalled() {
  const installed = packagesOf(inRoot("node_modules", ".package-lock.json"));
  if (installed === undefined) return false;
  return Object.entries(packagesOf(inRoot("package-lock.json")) ?? {})
    .filter(([path]) => path !== "")
    .every(([path, wanted]) => {
      const found = installed[path];
      // The lockfile also has optional packages for other platforms, which npm does not install.
      if (found === undefined) return wanted.optional === true;
      return found.version === wanted.version && existsSync(inRoot(path));
    });
}

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).packages : undefined;
}

async function nodeIsReady() {
  if (!existsSync(installedNode)) return false;
  const { code, output } = await capture(installedNode, ["--version"], { cwd: root });
  return code === 0 && Number(/^v(\d+)/.exec(output)?.[1]) >= REQUIRED_NODE;
}

/** Returns the environment without node_modules/.bin on PATH. `npm ci` is about to replace the Node in this folder. */
function hostEnvironment() {
  const own = inRoot("node_modules", ".bin");
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== own);
  return { ...process.env, PATH: path.join(delimiter) };
}

function installError(code, output) {
  if (code === 127)
    return new SetupError("npm is not on PATH: install Node 20 or newer together with npm and try again.");
  const cause =
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/.exec(
      output,
    );
  return cause
    ? new SetupError(
        `The package registry cannot be reached (${cause[1]}): check the network, the proxy and \`npm config get registry\`, and try again.`,
      )
    : new SetupError(`\`npm ci\` failed with exit code ${code}: its output above says why.`, errorsOf(output));
}

function errorsOf(output) {
  return output
    .split("\n")
    .filter((line) => !line.startsWith("npm warn"))
    .slice(0, 20)
    .join("\n");
}

function runTool(script, ...args) {
  return capture(installedNode, [script, ...args], { cwd: root, env: toolEnvironment() });
}

function tsc() {
  return inRoot("node_modules", "typescript", "bin", "tsc");
}

function digestOfSources() {
  const hash = createHash("sha256");
  const sources = ["src", "scenarios"]
    .flatMap((folder) => readdirSync(inRoot(folder), { recursive: true }).map((name) => inRoot(folder, name)))
    .filter((file) => /\.(ts|json)$/.test(file) && !file.endsWith(".test.ts"))
    .toSorted((one, other) => (one < other ? -1 : 1));
  const configuration = ["package-lock.json", "tsconfig.json", "tsconfig.build.json", "tools/bundle.ts"].map((name) =>
    inRoot(name),
  );
  for (const file of [...configuration, ...sources])
    hash.update(`${file.slice(root.length)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

function replaceDist(fresh) {
  const dist = inRoot("dist");
  const old = `${fresh}-replaced`;
  if (existsSync(dist)) renameSync(dist, old);
  try {
    renameSync(fresh, dist);
  } catch (error) {
    // If `dist` exists again, another process has just built the same sources.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(old, { recursive: true, force: true });
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setUp().catch((error) => {
    reportSetupError(error);
    process.exitCode = 2;
  });
}

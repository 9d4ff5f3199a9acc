// Finds the Chromium in which tests open pages. `node tools/chromium.mjs --install` installs Chromium if it is missing.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "./process.mjs";
import { root } from "./setup.mjs";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export function findChromium() {
  const named = process.env["CHROMIUM_BINARY"];
  if (named !== undefined && named !== "") return isExecutable(named) ? named : null;
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable) ?? null;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns `null` if Chromium is installed, otherwise a message that says what to do.
 *
 * @returns {Promise<{ message: string, detail: string } | null>}
 */
export async function prepareChromium() {
  if (findChromium() !== null) return null;
  const message =
    "There is no Chromium: install it (apt-get install chromium, or node tools/chromium.mjs --install), or set CHROMIUM_BINARY to an executable of it.";
  return { message, detail: "" };
}

async function install() {
  if (findChromium() !== null) return null;
  const isRoot = process.getuid?.() === 0;
  const [command, ...before] = isRoot ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  const outputs = [];
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]]) {
    const { code, output } = await capture(command, [...before, ...args], {
      cwd: root,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    outputs.push(output);
    if (code !== 0) return { message: `\`${command} ${args[0]}\` failed: see its output.`, detail: outputs.join("\n") };
  }
  return prepareChromium();
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const problem = process.argv.includes("--install") ? await install() : await prepareChromium();
  if (problem !== null) {
    process.stderr.write(`${problem.detail === "" ? "" : `${problem.detail}\n`}${problem.message}\n`);
    process.exitCode = 2;
  } else process.stdout.write(`${findChromium()}\n`);
}

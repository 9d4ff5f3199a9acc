import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { codeAsset } from "../src/base/spawn-module.ts";
import { packageAssets } from "../src/base/package-root.ts";
import { bundleOf, modulesOf, thirdPartyLicences } from "./bundle.ts";

// `npm run build:binary` writes binary/conformance-PLATFORM-ARCHITECTURE. This executable is a copy of Node with the
// `conformance` program inside.

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "binary");
const isWindows = process.platform === "win32";
const systems: Readonly<Record<string, string>> = { win32: "windows", darwin: "macos" };
const name = `conformance-${systems[process.platform] ?? process.platform}-${process.arch}${isWindows ? ".exe" : ""}`;

/** Matches the paths of files that `conformance` and k6 read while they run, such as the sources of k6 scripts. */
const shippedFiles = /^(package\.json|k6\/|scenarios\/.*\.ts$|src\/)/;

function packageFiles(): string[] {
  const list = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    shell: isWindows,
  });
  const [packed] = JSON.parse(list) as { files: { path: string }[] }[];
  return (packed?.files ?? []).map(({ path }) => path).filter((path) => shippedFiles.test(path));
}

async function writeCode(file: string): Promise<string[]> {
  const bundle = await bundleOf({ conformance: "src/cli/executable.ts" });
  const written = await bundle.write({ file, format: "cjs", codeSplitting: false, dynamicImportInCjs: false });
  await bundle.close();
  return modulesOf(written);
}

function writeBlob(work: string, code: string): string {
  const output = join(work, "blob");
  const config = join(work, "sea.json");
  const assets = Object.fromEntries(packageFiles().map((path) => [packageAssets + path, join(root, path)]));
  writeFileSync(
    config,
    JSON.stringify({
      main: code,
      output,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      assets: { ...assets, [codeAsset]: code },
    }),
  );
  execFileSync(process.execPath, ["--experimental-sea-config", config], { stdio: ["ignore", "ignore", "inherit"] });
  return output;
}

/** Marker in Node's executable. postject changes the marker, so that Node runs the embedded program. */
const blobMarker = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

function injectBlob(executable: string, blob: string): void {
  const postject = join(root, "node_modules", "postject", "dist", "cli.js");
  const segment = process.platform === "darwin" ? ["--macho-segment-name", "NODE_SEA"] : [];
  const args = [postject, executable, "NODE_SEA_BLOB", blob, "--sentinel-fuse", blobMarker, ...segment];
  // Hides postject's output: harmless warnings about unnamed sections in Node's executable.
  execFileSync(process.execPath, args, { stdio: "ignore" });
}

const nodeLicence = `The executable file is Node.js ${process.version} (MIT), with what that contains under licences of its own:
https://github.com/nodejs/node/blob/${process.version}/LICENSE

`;

async function build(): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, ".work-"));
  try {
    const code = join(work, codeAsset);
    const modules = await writeCode(code);
    const executable = join(work, name);
    copyFileSync(process.execPath, executable);
    chmodSync(executable, 0o755);
    injectBlob(executable, writeBlob(work, code));
    writeFileSync(join(folder, "THIRD-PARTY-LICENCES.txt"), nodeLicence + thirdPartyLicences(modules));
    const finished = join(folder, name);
    renameSync(executable, finished);
    return finished;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const built = await build();
process.stdout.write(`${built}  ${Math.round(statSync(built).size / 1024 ** 2)} MB\n`);

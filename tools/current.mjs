// Whether a checkout is still as the set-up left it, by names, sizes and times. The set-up's own check takes longer than a short command, because
// it computes digests and starts the installed Node. Plain JavaScript with nothing but `fs` and `path`, because every start loads it.
import { readdirSync, readFileSync, statSync, writeFileSync } from "fs";
import { join } from "path";

/** All files that the set-up depends on. If one is missing, the set-up must run. */
export const files = [
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "tools/bundle.ts",
  "tools/setup.mjs",
  "node_modules/.package-lock.json",
  "node_modules/.bin/node",
];
const folders = ["src", "scenarios"];

// A build replaces the whole folder, so the stamp goes with the old one.
const stampOf = (root) => join(root, "dist", ".current");

/** A text that changes with any file; `null` if one is missing. */
export function fingerprint(root) {
  const lines = [];
  const add = (name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    lines.push(`${name} ${size} ${mtimeMs}`);
  };
  // Not `recursive`, which takes longer than everything else here.
  const addFolder = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) addFolder(name);
      else if (!name.endsWith(".test.ts")) add(name);
    }
  };
  try {
    files.forEach(add);
    folders.forEach(addFolder);
    return lines.join("\n");
  } catch {
    return null;
  }
}

/** Whether nothing has changed since `remember`. */
export function isCurrent(root) {
  try {
    return readFileSync(stampOf(root), "utf8") === fingerprint(root);
  } catch {
    return false;
  }
}

/** Stores a fingerprint that was taken before the build, so that a change during the build is noticed. If it cannot be stored, the next start takes longer. */
export function remember(root, taken) {
  try {
    if (taken !== null) writeFileSync(stampOf(root), taken);
  } catch {
    // The folder is read-only, or another start is replacing it.
  }
}

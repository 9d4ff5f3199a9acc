// Whether a checkout has changed since its set-up. Every start of `conformance` loads this file, so it must be fast.
import { readdirSync, readFileSync, statSync, writeFileSync } from "fs";
import { join } from "path";

/** Files in the fingerprint of a checkout. If one of these files is missing or changed, the set-up runs again. */
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

// Returns the path of the file that stores the checkout's fingerprint. A build replaces `dist`, which deletes the file.
const stampOf = (root) => join(root, "dist", ".current");

export function fingerprint(root) {
  const lines = [];
  const add = (name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    lines.push(`${name} ${size} ${mtimeMs}`);
  };
  // Calls itself for nested folders. The option `recursive: true` of `readdirSync` would be slower.
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

export function isCurrent(root) {
  try {
    return readFileSync(stampOf(root), "utf8") === fingerprint(root);
  } catch {
    return false;
  }
}

/**
 * Stores a fingerprint, which must be taken before the build. A later fingerprint would hide changes that a user made
 * during the build.
 */
export function remember(root, taken) {
  try {
    if (taken !== null) writeFileSync(stampOf(root), taken);
  } catch {
    // Ignores the error. Either `dist` is read-only, or another process is replacing `dist`.
  }
}

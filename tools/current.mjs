// Tells whether a checkout has changed since the set-up, by names, sizes and times of files. The check in
// tools/setup.mjs is more exact, but takes longer than a short command. Plain JavaScript that imports only `fs` and
// `path`, because every start loads this file.
import { readdirSync, readFileSync, statSync, writeFileSync } from "fs";
import { join } from "path";

/** All files on which the set-up depends. If one is missing, the set-up must run again. */
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

// Returns the path of the stored fingerprint. The path is inside dist, because each build replaces this folder and so
// removes an outdated fingerprint.
const stampOf = (root) => join(root, "dist", ".current");

/** Returns a text that changes if any file in `files` or `folders` changes; `null` if a file is missing. */
export function fingerprint(root) {
  const lines = [];
  const add = (name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    lines.push(`${name} ${size} ${mtimeMs}`);
  };
  // Walks the folders by itself. The option `recursive: true` of `readdirSync` would take longer than the rest of this
  // function.
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

/** Whether the files of the checkout still match the fingerprint that {@link remember} stored. */
export function isCurrent(root) {
  try {
    return readFileSync(stampOf(root), "utf8") === fingerprint(root);
  } catch {
    return false;
  }
}

/**
 * Stores a fingerprint that was taken before the build, so that a change during the build is noticed. If it cannot be
 * stored, the next start only takes longer.
 */
export function remember(root, taken) {
  try {
    if (taken !== null) writeFileSync(stampOf(root), taken);
  } catch {
    // Not stored: the folder is read-only, or another process is replacing it.
  }
}

// Whether a checkout is as the set-up left it, told by names, sizes and times alone: its digests and its look at the installed Node take
// longer than a short command. Plain JavaScript with nothing but `fs` and `path`, as it is loaded at each start.
import { readdirSync, readFileSync, statSync, writeFileSync } from "fs";
import { join } from "path";

/** All that the set-up looks at; where one of them is missing, there is something to do. */
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

// A build puts a new folder in the place of this one, and the stamp goes with the old.
const stampOf = (root) => join(root, "dist", ".current");

/** What has to be the same for nothing to have changed; `null` where something is missing. */
export function fingerprint(root) {
  const lines = [];
  const add = (name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    lines.push(`${name} ${size} ${mtimeMs}`);
  };
  // Not `recursive`, which takes longer than all else here.
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

/** True where nothing has changed since `remember`. */
export function isCurrent(root) {
  try {
    return readFileSync(stampOf(root), "utf8") === fingerprint(root);
  } catch {
    return false;
  }
}

/** Keeps a fingerprint that was taken before the build: what changed meanwhile is seen the next time. Where it cannot be kept, the next start takes longer. */
export function remember(root, taken) {
  try {
    if (taken !== null) writeFileSync(stampOf(root), taken);
  } catch {
    // A build that nobody may write into, or that another start is putting in its place.
  }
}

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../load/package-root.ts";

/** Version of the installed package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot, "package.json"), "utf8");
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}

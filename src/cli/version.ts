import { readFileSync } from "node:fs";

/** Version of the installed package. */
export function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}

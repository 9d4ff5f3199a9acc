import { packageText } from "../base/package-root.ts";

/** Version of the installed package. */
export function packageVersion(): string {
  const parsed: unknown = JSON.parse(packageText("package.json"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}

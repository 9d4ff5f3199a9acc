import { UsageError } from "../../base/usage-error.ts";

/** @throws {UsageError} where it is no path below a base URL */
export function readPath(path: string): string {
  if (path.startsWith("/")) return path;
  throw new UsageError(`The path ${JSON.stringify(path)} must begin with /, as in /agents/{agent_id}/batch.`);
}

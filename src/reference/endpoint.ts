/** The endpoint that a request calls; `unknown` if the server has no such path or method. */
export type Endpoint =
  | "invoke"
  | "stream"
  | "health"
  | "list"
  | "usage"
  | "createWebhook"
  | "listDeliveries"
  | "webhookMetrics"
  | "createAlert"
  | "keyUsage"
  | "checkOperation"
  | "batch"
  | "startOperation"
  | "execute"
  | "describeAgent"
  | "unknown"
  | "description"
  | "clock"
  | "control";

/**
 * Whether the endpoint is an addition of the reference server, such as its test control. Additions need no API key and
 * have no limits.
 */
export function isUndocumented(endpoint: Endpoint): boolean {
  return endpoint === "description" || endpoint === "clock" || endpoint === "control";
}

const agentEndpoints: ReadonlySet<Endpoint> = new Set(["invoke", "stream", "execute", "batch", "startOperation"]);

export const runsAgent = (endpoint: Endpoint): boolean => agentEndpoints.has(endpoint);

import type { Flow, Operation } from "../../scenarios/scenario.ts";
import type { Settings } from "./settings.ts";

export interface Request {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body: string | null;
  readonly params: {
    readonly headers: Record<string, string>;
    readonly timeout: number;
    readonly responseType: "text";
  };
}

/** Maximum time to wait for a complete response. A later response counts as missing. */
const TIMEOUT_MS = 120_000;

export function requestOf(flow: Flow, settings: Settings): Request {
  const { operation } = flow;
  const isPost = operation.kind === "invoke" || operation.kind === "stream";
  const { body } = settings.roleRequest(operation.agent);
  return {
    method: isPost ? "POST" : "GET",
    url: settings.baseUrl + pathOf(operation, settings),
    body: isPost ? JSON.stringify({ query: "How are you under load?", ...body }) : null,
    params: {
      headers: {
        Authorization: `Bearer ${settings.key(flow.key)}`,
        Accept: operation.kind === "stream" ? "text/event-stream" : "application/json",
        ...(isPost ? { "Content-Type": "application/json" } : {}),
      },
      timeout: flow.leaveAfterMs ?? TIMEOUT_MS,
      responseType: "text",
    },
  };
}

function pathOf({ kind, agent }: Operation, settings: Settings): string {
  if (kind === "usage") return "/usage";
  if (kind === "list") return "/agents?page=1&limit=10";
  const template = settings.roleRequest(agent).path ?? "/agents/{agent_id}/{endpoint}";
  return template
    .replace(/\{agent_id\}/g, () => encodeURIComponent(settings.agent(agent)))
    .replace(/\{endpoint\}/g, kind);
}

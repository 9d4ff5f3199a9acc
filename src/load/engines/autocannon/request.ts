import { encodedSegment } from "../../../base/http.ts";
import { type EngineOptions, EngineProblem } from "../../engine.ts";
import type { Operation } from "../../scenarios.ts";

export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export type RequestTarget = Pick<EngineOptions, "baseUrl" | "agents" | "roleRequests" | "userAgent">;

export function prepareRequest(operation: Operation, key: string, target: RequestTarget): PreparedRequest {
  const { body, path } = target.roleRequests[operation.agent] ?? { body: {}, path: null };
  const get = (urlPath: string): PreparedRequest => ({
    method: "GET",
    url: target.baseUrl + urlPath,
    headers: { authorization: `Bearer ${key}`, accept: "application/json", "user-agent": target.userAgent },
    body: null,
  });
  const post = (urlPath: string, accept: string): PreparedRequest => {
    const { url, headers } = get(urlPath);
    return {
      method: "POST",
      url,
      headers: { ...headers, accept, "content-type": "application/json" },
      body: JSON.stringify({ query: "hello", ...body }),
    };
  };
  const agentPath = (): string => {
    const template = path ?? "/agents/{agent_id}/{endpoint}";
    const id = encodedSegment(agentOf(operation, target));
    return template.replaceAll("{agent_id}", () => id).replaceAll("{endpoint}", operation.kind);
  };
  switch (operation.kind) {
    case "invoke":
      return post(agentPath(), "application/json");
    case "stream":
      return post(agentPath(), "text/event-stream");
    case "health":
      return get(agentPath());
    case "usage":
      return get("/usage");
    case "list":
      return get("/agents?page=1&limit=10");
  }
}

function agentOf({ agent }: Operation, { agents }: RequestTarget): string {
  const id = agents[agent];
  if (id === null)
    throw new EngineProblem(`The target has no agent for the role "${agent}": name one in the target file's "agents".`);
  if (id === "." || id === "..")
    throw new EngineProblem(
      `The agent for the role "${agent}" is named ${JSON.stringify(id)}, which is taken out of every URL: name another one in the target file's "agents".`,
    );
  return id;
}

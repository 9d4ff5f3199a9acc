import type { Operation } from "../../../../scenarios/scenario.ts";
import { encodedSegment } from "../../../base/path-segment.ts";
import { type EngineParts, EngineProblem } from "../../engine.ts";

/** One request of an operation. */
export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export type Where = Pick<EngineParts, "baseUrl" | "agents" | "players">;

/** @throws {EngineProblem} where the target has no agent of the kind */
export function callOf(operation: Operation, key: string, where: Where): Call {
  const get = (path: string): Call => ({
    method: "GET",
    url: where.baseUrl + path,
    headers: { authorization: `Bearer ${key}`, accept: "application/json" },
    body: null,
  });
  const post = (path: string, accept: string): Call => {
    const { url, headers } = get(path);
    return {
      method: "POST",
      url,
      headers: { ...headers, accept, "content-type": "application/json" },
      body: JSON.stringify({ query: "hello", ...where.players[operation.agent]?.body }),
    };
  };
  const agentPath = (): string => {
    const template = where.players[operation.agent]?.path ?? "/agents/{agent_id}/{endpoint}";
    const id = encodedSegment(agentOf(operation, where));
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

function agentOf({ agent }: Operation, { agents }: Where): string {
  const id = agents[agent];
  if (id === null)
    throw new EngineProblem(`The target has no agent for the role "${agent}": name one in the target file's "agents".`);
  if (id === "." || id === "..")
    throw new EngineProblem(
      `The agent for the role "${agent}" is named ${JSON.stringify(id)}, which is taken out of every URL: name another one in the target file's "agents".`,
    );
  return id;
}

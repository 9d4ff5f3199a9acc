import { harmlessLine } from "../../base/harmless.ts";
import { firstOf } from "../../base/text.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { InitSurroundings } from "./surroundings.ts";

/**
 * An agent that somebody names, unless the target's list shows that there is none of that id.
 *
 * @param redact takes secrets out of what the target sent
 * @throws {UsageProblem} with the ids that there are
 */
export function listedAgent(
  id: string,
  { agents, isWhole }: Pick<InitSurroundings, "agents" | "isWhole">,
  redact: (text: string) => string,
): string {
  if (!isWhole || agents.some((agent) => agent.id === id)) return id;
  const ids = agents.map((agent) => harmlessLine(redact(agent.id), 60));
  const there = ids.length === 0 ? "it is empty" : `it has ${firstOf(ids, mostIds)}`;
  throw new UsageProblem(`The target's list has no agent ${JSON.stringify(harmlessLine(redact(id), 60))}: ${there}.`);
}

const mostIds = 20;

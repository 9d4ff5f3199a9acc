import { describe, expect, it } from "vitest";

import { UsageError } from "../../base/line.ts";
import { requireListedAgent } from "./answers.ts";

const agents = ["echo", "pk_1-\u001b[2J"].map((id) => ({ id, health: null, mentionsStream: false }));
const redact = (text: string): string => text.replaceAll("pk_1", "…");

describe("an agent that somebody names", () => {
  it("is taken where the list has it", () => {
    expect(requireListedAgent("echo", { agents, hasAllAgents: true }, redact)).toBe("echo");
  });

  it("is taken where the list was not read to its end", () => {
    expect(requireListedAgent("ehco", { agents, hasAllAgents: false }, redact)).toBe("ehco");
  });

  it("is refused where the list has none of that id, with those that it has, harmless and without secrets", () => {
    const name = (): string => requireListedAgent("ehco", { agents, hasAllAgents: true }, redact);
    expect(name).toThrow(UsageError);
    expect(name).toThrow(/^The target's list has no agent "ehco": it has echo, /);
    expect(name).not.toThrow("\u001b");
    expect(name).not.toThrow(/pk_1/);
    expect(() => requireListedAgent("ehco", { agents: [], hasAllAgents: true }, redact)).toThrow(/it is empty/);
  });
});

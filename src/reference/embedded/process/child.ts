import { messageOf } from "../../../base/errors.ts";
import { sendToParent } from "../../../base/spawn-module.ts";
import { acceleratedClock } from "../../clock.ts";
import { patchNamed } from "../../catalogue.ts";
import { type Reference, startReference } from "../../reference.ts";
import { referenceTiers } from "../../keys.ts";
import type { ChildCommands, ChildReply, ChildRequest } from "./server-process.ts";

// This file runs the embedded server in a child process, which ends with its parent.

let reference: Reference | null = null;
const clock = acceleratedClock(1);

const commands: ChildCommands = {
  start: async ({ patches, tiers, speed }) => {
    clock.setSpeed(speed);
    reference = await startReference({
      clock,
      patches: patches.map(patchNamed),
      tiers: { ...referenceTiers, ...tiers },
      keys: [],
    });
    return { baseUrl: reference.baseUrl, agents: reference.agents, tiers: reference.tiers };
  },
  issueKey: async (tier) => {
    if (reference === null) throw new Error("The server was asked for a key before it was started.");
    const { name, key } = reference.issueKey(tier);
    return { name, key };
  },
  setSpeed: async (speed) => clock.setSpeed(speed),
  toNextHour: async () => clock.skipToNextHour(),
  rssBytes: async () => process.memoryUsage.rss(),
};

process.on("disconnect", () => process.exit(0));
// Ignores Ctrl-C, because the parent still needs the server until the parent's own requests have ended.
process.on("SIGINT", () => {});

process.on("message", ({ id, name, args }: ChildRequest) => {
  // The cast is safe, because the parent sends the arguments of the command.
  const run = commands[name] as (...given: readonly unknown[]) => Promise<unknown>;
  run(...args)
    .then((result): ChildReply => ({ id, kind: "done", result }))
    .catch((error: unknown): ChildReply => ({ id, kind: "failed", message: messageOf(error) }))
    .then(sendToParent)
    .catch(() => process.exit(1));
});

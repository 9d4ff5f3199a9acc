import { messageOf } from "../../../base/errors.ts";
import { sendToParent } from "../../../base/spawn-module.ts";
import { acceleratedClock } from "../../clock.ts";
import type { Patch } from "../../patch.ts";
import { findPatch } from "../../catalogue.ts";
import { type Reference, startReference } from "../../reference.ts";
import { referenceTiers } from "../../keys.ts";
import type { ChildRequest, PatchName, ChildReply, StartOptions, ChildCommand } from "./server-process.ts";

// This file runs the embedded server in a child process, which ends with its parent.

let reference: Reference | null = null;
const clock = acceleratedClock(1);

process.on("disconnect", () => process.exit(0));
// Ignores Ctrl-C, because the parent still needs the server until the parent's own requests have ended.
process.on("SIGINT", () => {});

process.on("message", ({ id, command }: ChildRequest) => {
  runCommand(id, command)
    .catch((error: unknown): ChildReply => ({ id, kind: "failed", message: messageOf(error) }))
    .then(sendToParent)
    .catch(() => process.exit(1));
});

async function runCommand(id: number, command: ChildCommand): Promise<ChildReply> {
  if (command.kind === "start") {
    reference = await startServer(command.start);
    const { baseUrl, agents, tiers } = reference;
    return { id, kind: "started", started: { baseUrl, agents, tiers } };
  }
  if (command.kind === "speed") {
    clock.setSpeed(command.speed);
    return { id, kind: "clockSet" };
  }
  if (command.kind === "nextHour") {
    clock.skipToNextHour();
    return { id, kind: "clockSet" };
  }
  if (command.kind === "rss") return { id, kind: "rss", bytes: process.memoryUsage.rss() };
  if (reference === null) throw new Error("The server was asked for a key before it was started.");
  const { name, key } = reference.issueKey(command.tier);
  return { id, kind: "key", name, key };
}

function startServer({ patches, tiers, speed }: StartOptions): Promise<Reference> {
  clock.setSpeed(speed);
  return startReference({
    clock,
    patches: patches.map(patchNamed),
    tiers: { ...referenceTiers, ...tiers },
    keys: [],
  });
}

function patchNamed({ kind, name }: PatchName): Patch {
  const patch = findPatch(kind, name);
  if (patch === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return patch;
}

import { messageOf } from "../../../base/errors.ts";
import { acceleratedClock } from "../../clock.ts";
import type { Patch } from "../../patch.ts";
import { findPatch } from "../../catalogue.ts";
import { type Reference, startReference } from "../../reference.ts";
import { referenceTiers } from "../../keys.ts";
import type { ChildRequest, PatchName, ChildReply, StartOptions, ChildCommand } from "./server-process.ts";

// The embedded server as a process of its own. It ends with its parent, whatever becomes of that: the channel between them closes.

let reference: Reference | null = null;
const clock = acceleratedClock(1);

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches all processes of a terminal; the parent still has requests to end.
process.on("SIGINT", () => {});

process.on("message", ({ id, command }: ChildRequest) => {
  fulfil(id, command)
    .catch((error: unknown): ChildReply => ({ id, kind: "failed", message: messageOf(error) }))
    // Whoever asked may be gone by now; then this process ends, too.
    .then((reply) => void process.send?.(reply, undefined, undefined, () => {}))
    .catch(() => process.exit(1));
});

async function fulfil(id: number, wish: ChildCommand): Promise<ChildReply> {
  if (wish.kind === "start") {
    reference = await started(wish.start);
    const { baseUrl, agents, tiers } = reference;
    return { id, kind: "started", started: { baseUrl, agents, tiers } };
  }
  if (wish.kind === "speed") {
    clock.setSpeed(wish.speed);
    return { id, kind: "clockSet" };
  }
  if (wish.kind === "nextHour") {
    clock.skipToNextHour();
    return { id, kind: "clockSet" };
  }
  if (wish.kind === "rss") return { id, kind: "rss", bytes: process.memoryUsage.rss() };
  if (reference === null) throw new Error("The server was asked for a key before it was started.");
  const { name, key } = reference.issueKey(wish.tier);
  return { id, kind: "key", name, key };
}

function started({ patches, tiers, speed }: StartOptions): Promise<Reference> {
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

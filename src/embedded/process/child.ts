import { messageOf } from "../../base/errors.ts";
import { fasterClock } from "../../reference/clock.ts";
import type { Patch } from "../../reference/patch.ts";
import { findPatch } from "../../reference/patches.ts";
import { type Reference, startReference } from "../../reference/reference.ts";
import { referenceTiers } from "../../reference/keys.ts";
import type { ChildRequest, PatchName, ChildReply, Start, ChildWish } from "./messages.ts";

// The embedded server as a process of its own. It ends with its parent, whatever becomes of that: the channel between them closes.

let reference: Reference | null = null;
const clock = fasterClock(1);

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches all processes of a terminal; the parent still has requests to end.
process.on("SIGINT", () => {});

process.on("message", ({ id, wish }: ChildRequest) => {
  fulfil(id, wish)
    .catch((error: unknown): ChildReply => ({ id, kind: "failed", message: messageOf(error) }))
    // Whoever asked may be gone by now; then this process ends, too.
    .then((reply) => void process.send?.(reply, undefined, undefined, () => {}))
    .catch(() => process.exit(1));
});

async function fulfil(id: number, wish: ChildWish): Promise<ChildReply> {
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
    clock.toNextHour();
    return { id, kind: "clockSet" };
  }
  if (wish.kind === "rss") return { id, kind: "rss", bytes: process.memoryUsage.rss() };
  if (reference === null) throw new Error("The server was asked for a key before it was started.");
  const { name, key } = reference.freshKey(wish.tier);
  return { id, kind: "key", name, key };
}

function started({ patches, tiers, speed }: Start): Promise<Reference> {
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

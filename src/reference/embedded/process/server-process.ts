import type { ChildProcess } from "node:child_process";
import { startProcess } from "../../../base/spawn-module.ts";
import type { Patch } from "../../patch.ts";
import type { Reference } from "../../reference.ts";
import type { TierName, TierLimits } from "../../../spec/tiers.ts";

/** A key that nobody has used. */
export interface NewKey {
  /** Safe to show. */
  readonly name: string;
  readonly key: string;
}

/** The embedded reference server in a process of its own, so that it and the load do not wait for each other. */
export interface ReferenceProcess extends StartedServer {
  readonly issueKey: (tier: TierName) => Promise<NewKey>;
  /** From now on its clock runs so many times as fast as the machine's; requests that are on the way keep their time. */
  readonly setSpeed: (speed: number) => Promise<void>;
  /**
   * Moves its clock to the beginning of the next hour, so that no window of an hour or a minute that it counts by ends in the middle of what follows.
   */
  readonly toNextHour: () => Promise<void>;
  /** Memory that the server's process holds, in bytes. */
  readonly rssBytes: () => Promise<number>;
  /** Ends the process; settles when it has ended. Open connections are cut. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the server on a free loopback port. Its process ends with ours, however ours ends.
 *
 * @throws {Error} where it does not start, with the server's own words
 */
export async function startReferenceProcess(options: Partial<StartOptions> = {}): Promise<ReferenceProcess> {
  const start: StartOptions = { patches: [], tiers: {}, speed: 1, ...options };
  const child = startChild();
  const ask = askerOf(child);
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.connected) child.disconnect();
    await ended;
  };
  const reply = await ask({ kind: "start", start }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (reply.kind !== "started") throw unexpected(reply);
  return {
    ...reply.started,
    issueKey: async (tier) => {
      const issued = await ask({ kind: "freshKey", tier });
      if (issued.kind !== "key") throw unexpected(issued);
      return { name: issued.name, key: issued.key };
    },
    setSpeed: async (speed) => void (await ask({ kind: "speed", speed })),
    toNextHour: async () => void (await ask({ kind: "nextHour" })),
    rssBytes: async () => {
      const told = await ask({ kind: "rss" });
      if (told.kind !== "rss") throw unexpected(told);
      return told.bytes;
    },
    close,
  };
}

function startChild(): ChildProcess {
  return startProcess(import.meta.url, "child", {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

interface Waiting {
  readonly resolve: (reply: ChildReply) => void;
  readonly reject: (error: Error) => void;
}

/** Asks over the channel; every question is answered, or rejected when the process ends. */
function askerOf(child: ChildProcess): (wish: ChildCommand) => Promise<ChildReply> {
  const waiting = new Map<number, Waiting>();
  let count = 0;
  const giveUp = (reason: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  };
  child.on("message", (reply: ChildReply) => {
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === "failed") asked?.reject(new Error(reply.message));
    else asked?.resolve(reply);
  });
  child.on("error", (error) => giveUp(`The embedded server's process does not start: ${error.message}`));
  child.on("exit", (code, signal) =>
    giveUp(`The embedded server's process has ended (${signal ?? `exit code ${code}`}).`),
  );
  return (command) =>
    new Promise((resolve, reject) => {
      const asked: ChildRequest = { id: (count += 1), command };
      waiting.set(asked.id, { resolve, reject });
      child.send(asked, (error) => {
        if (error === null) return;
        waiting.delete(asked.id);
        reject(new Error(`The embedded server's process cannot be asked: ${error.message}`));
      });
    });
}

const unexpected = ({ kind }: ChildReply): Error =>
  new Error(`The embedded server's process gave an unexpected answer: ${kind}.`);

/** A fault or variant, by name: what it replaces cannot go from one process to another. */
export type PatchName = Pick<Patch, "kind" | "name">;

/** How the server in the other process is started. */
export interface StartOptions {
  readonly patches: readonly PatchName[];
  /** Numbers of the tiers that differ from the server's own. */
  readonly tiers: Partial<Readonly<Record<TierName, TierLimits>>>;
  /** How many times as fast as the machine's its clock runs. */
  readonly speed: number;
}

export type ChildCommand =
  | { readonly kind: "start"; readonly start: StartOptions }
  | { readonly kind: "freshKey"; readonly tier: TierName }
  | { readonly kind: "speed"; readonly speed: number }
  | { readonly kind: "nextHour" }
  | { readonly kind: "rss" };

/** What is asked, with a number that its answer repeats. */
export interface ChildRequest {
  readonly id: number;
  readonly command: ChildCommand;
}

export type ChildReply =
  | { readonly id: number; readonly kind: "started"; readonly started: StartedServer }
  | { readonly id: number; readonly kind: "key"; readonly name: string; readonly key: string }
  | { readonly id: number; readonly kind: "clockSet" }
  | { readonly id: number; readonly kind: "rss"; readonly bytes: number }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

/** What the server is, once it listens. */
export interface StartedServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly agents: Reference["agents"];
  readonly tiers: Readonly<Record<TierName, TierLimits>>;
}

import type { ChildProcess } from "node:child_process";
import { startProcess } from "../../../base/spawn-module.ts";
import type { Patch } from "../../patch.ts";
import type { Reference } from "../../reference.ts";
import type { TierName, TierLimits } from "../../../spec/tiers.ts";

interface NewKey {
  /** Name of the key. Unlike `key`, it is no secret and may be printed. */
  readonly name: string;
  readonly key: string;
}

/** The embedded reference server in a separate process, so that server and load do not slow each other. */
export interface ReferenceProcess extends StartedServer {
  readonly issueKey: (tier: TierName) => Promise<NewKey>;
  /** Sets the speed of the server's clock. Timers that are already set keep their real duration. */
  readonly setSpeed: (speed: number) => Promise<void>;
  readonly toNextHour: () => Promise<void>;
  readonly rssBytes: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function startReferenceProcess(options: Partial<StartOptions> = {}): Promise<ReferenceProcess> {
  const start: StartOptions = { patches: [], tiers: {}, speed: 1, ...options };
  const child = startProcess(import.meta.url, "child", {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const send = commandSender(child);
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.connected) child.disconnect();
    await ended;
  };
  const reply = await send({ kind: "start", start }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (reply.kind !== "started") throw unexpectedReply(reply);
  return {
    ...reply.started,
    issueKey: async (tier) => {
      const issued = await send({ kind: "freshKey", tier });
      if (issued.kind !== "key") throw unexpectedReply(issued);
      return { name: issued.name, key: issued.key };
    },
    setSpeed: async (speed) => void (await send({ kind: "speed", speed })),
    toNextHour: async () => void (await send({ kind: "nextHour" })),
    rssBytes: async () => {
      const memory = await send({ kind: "rss" });
      if (memory.kind !== "rss") throw unexpectedReply(memory);
      return memory.bytes;
    },
    close,
  };
}

function commandSender(child: ChildProcess): (command: ChildCommand) => Promise<ChildReply> {
  const waiting = new Map<number, Pick<PromiseWithResolvers<ChildReply>, "resolve" | "reject">>();
  let count = 0;
  const rejectAll = (reason: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  };
  child.on("message", (reply: ChildReply) => {
    const pending = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === "failed") pending?.reject(new Error(reply.message));
    else pending?.resolve(reply);
  });
  child.on("error", (error) => rejectAll(`The embedded server's process does not start: ${error.message}`));
  child.on("exit", (code, signal) =>
    rejectAll(`The embedded server's process has ended (${signal ?? `exit code ${code}`}).`),
  );
  return (command) =>
    new Promise((resolve, reject) => {
      const request: ChildRequest = { id: (count += 1), command };
      waiting.set(request.id, { resolve, reject });
      child.send(request, (error) => {
        if (error === null) return;
        waiting.delete(request.id);
        reject(new Error(`The embedded server's process cannot be reached: ${error.message}`));
      });
    });
}

const unexpectedReply = ({ kind }: ChildReply): Error =>
  new Error(`The embedded server's process sent an unexpected reply: ${kind}.`);

export type PatchName = Pick<Patch, "kind" | "name">;

export interface StartOptions {
  readonly patches: readonly PatchName[];
  readonly tiers: Partial<Readonly<Record<TierName, TierLimits>>>;
  readonly speed: number;
}

export type ChildCommand =
  | { readonly kind: "start"; readonly start: StartOptions }
  | { readonly kind: "freshKey"; readonly tier: TierName }
  | { readonly kind: "speed"; readonly speed: number }
  | { readonly kind: "nextHour" }
  | { readonly kind: "rss" };

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

interface StartedServer {
  readonly baseUrl: string;
  readonly agents: Reference["agents"];
  readonly tiers: Readonly<Record<TierName, TierLimits>>;
}

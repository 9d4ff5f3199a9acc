import type { ChildProcess } from "node:child_process";
import { startProcess } from "../../../base/spawn-module.ts";
import type { Patch } from "../../patch.ts";
import type { Reference, ReferenceKey, TierTable } from "../../reference.ts";
import type { TierName } from "../../../spec/tiers.ts";

/** The embedded reference server in a separate process, so that server and load do not slow each other. */
export interface ReferenceProcess extends StartedServer {
  readonly issueKey: (tier: TierName) => Promise<Pick<ReferenceKey, "name" | "key">>;
  /** Sets the speed of the server's clock. Timers that are already set keep their real duration. */
  readonly setSpeed: (speed: number) => Promise<void>;
  readonly toNextHour: () => Promise<void>;
  readonly rssBytes: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function startReferenceProcess(options: Partial<StartOptions> = {}): Promise<ReferenceProcess> {
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
  const started = await send("start", { patches: [], tiers: {}, speed: 1, ...options }).catch(
    async (error: unknown) => {
      await close();
      throw error;
    },
  );
  return {
    ...started,
    issueKey: (tier) => send("issueKey", tier),
    setSpeed: (speed) => send("setSpeed", speed),
    toNextHour: () => send("toNextHour"),
    rssBytes: () => send("rssBytes"),
    close,
  };
}

type CommandSender = <N extends keyof ChildCommands>(
  name: N,
  ...args: Parameters<ChildCommands[N]>
) => ReturnType<ChildCommands[N]>;

function commandSender(child: ChildProcess): CommandSender {
  const waiting = new Map<number, Pick<PromiseWithResolvers<unknown>, "resolve" | "reject">>();
  let count = 0;
  const rejectAll = (reason: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  };
  child.on("message", (reply: ChildReply) => {
    const pending = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === "failed") pending?.reject(new Error(reply.message));
    else pending?.resolve(reply.result);
  });
  child.on("error", (error) => rejectAll(`The embedded server's process does not start: ${error.message}`));
  child.on("exit", (code, signal) =>
    rejectAll(`The embedded server's process has ended (${signal ?? `exit code ${code}`}).`),
  );
  const send = (name: keyof ChildCommands, ...args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      const request: ChildRequest = { id: (count += 1), name, args };
      waiting.set(request.id, { resolve, reject });
      child.send(request, (error) => {
        if (error === null) return;
        waiting.delete(request.id);
        reject(new Error(`The embedded server's process cannot be reached: ${error.message}`));
      });
    });
  // The cast is safe, because the child runs the command of this name.
  return send as CommandSender;
}

export type PatchName = Pick<Patch, "kind" | "name">;

interface StartOptions {
  readonly patches: readonly PatchName[];
  readonly tiers: Partial<TierTable>;
  readonly speed: number;
}

type StartedServer = Pick<Reference, "baseUrl" | "agents" | "tiers">;

/** The commands that the child process carries out. */
export interface ChildCommands extends Omit<ReferenceProcess, keyof StartedServer | "close"> {
  readonly start: (options: StartOptions) => Promise<StartedServer>;
}

export interface ChildRequest {
  readonly id: number;
  readonly name: keyof ChildCommands;
  readonly args: readonly unknown[];
}

export type ChildReply =
  | { readonly id: number; readonly kind: "done"; readonly result: unknown }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

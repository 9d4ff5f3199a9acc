import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { z } from "zod";

import { targetFromObject } from "../../../target/target-file.ts";
import type { Target } from "../../../target/target.ts";

/** A server that another author wrote, with only the document at hand. `build` gives the command that starts it. */
export interface Vendor {
  readonly language: string;
  /** Whether the tools to build and run the server are on this machine. */
  readonly isHere: () => boolean;
  /** Builds the server unless it is built already. Returns the command that starts it. */
  readonly build: () => readonly [command: string, ...args: string[]];
}

/** A switch of the server. It turns on a defect, or behaviour that is odd but legal. */
export interface ServerSwitch {
  readonly kind: string;
  readonly name: string;
}

/** The part of the server's start-up message that a target file needs. */
const startMessageSchema = z.object({
  base_url: z.string(),
  keys: z.array(z.object({ name: z.string(), key: z.string() })),
  agents: z.record(z.string(), z.string()),
  clock: z.object({ url: z.string() }),
  deploy: z.string(),
});
type StartMessage = z.infer<typeof startMessageSchema>;

const sources = (language: string): string =>
  new URL(`../../../../tools/third-party/${language}`, import.meta.url).pathname;

let folder: string | undefined;
const builtIn = (): string => (folder ??= mkdtempSync(join(tmpdir(), "stranger-")));

export const goVendor: Vendor = {
  language: "go",
  isHere: () => spawnSync("go", ["version"], { stdio: "ignore" }).status === 0,
  build: () => {
    const binary = join(builtIn(), "go-vendor");
    if (!existsSync(binary)) {
      const { status, stderr } = spawnSync("go", ["build", "-o", binary, "."], {
        cwd: sources("go"),
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`The vendor in Go cannot be built: ${stderr}`);
    }
    return [binary];
  },
};

/** Lists the switches of a server. */
export function switchesOf(vendor: Vendor): ServerSwitch[] {
  const [command, ...args] = vendor.build();
  const { stdout } = spawnSync(command, [...args, "--list"], { encoding: "utf8" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .map(([kind = "", name = ""]) => ({ kind, name }));
}

/** Starts the server on a free loopback port. Returns a target with every role and a test clock. */
export async function startVendor(
  vendor: Vendor,
  switches: readonly ServerSwitch[],
): Promise<{ readonly target: Target; readonly close: () => void }> {
  const [command, ...args] = vendor.build();
  const flags = [
    "--port",
    "0",
    "--test-clock",
    "--temporary-seconds",
    "3600",
    "--slow-seconds",
    "1",
    "--stream-delay-ms",
    "120",
  ];
  const child = spawn(command, [...args, ...flags, ...switches.flatMap(({ kind, name }) => [`--${kind}`, name])], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const startMessage = await startMessageOf(child);
  return {
    target: targetFromObject(targetFileOf(startMessage), `the vendor in ${vendor.language}`, {}),
    close: () => child.kill(),
  };
}

async function startMessageOf(child: ChildProcess): Promise<StartMessage> {
  if (child.stdout === null) throw new Error("The vendor has no output.");
  const ended = once(child, "exit").then(() => {
    throw new Error("The vendor ended before it listened.");
  });
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string];
  ended.catch(() => {});
  return startMessageSchema.parse(JSON.parse(line));
}

/** Makes a complete target file, as a vendor would write it for a test deployment. */
function targetFileOf({ base_url: baseUrl, keys, agents, clock, deploy }: StartMessage): unknown {
  const key = (name: string): string | undefined => keys.find((each) => each.name === name)?.key;
  const fresh = (name: string, tier: string): unknown => ({ key: key(name), tier, fresh: true });
  const trigger = (event: string): unknown => ({ url: deploy, body: { agent_id: agents["degraded"], event } });
  return {
    name: "stranger",
    baseUrl,
    keys: {
      free: fresh("free1", "free"),
      free2: fresh("free2", "free"),
      pro: fresh("pro", "pro"),
      team: fresh("team", "team"),
      expired: { key: key("expired"), expired: true },
      reader: { key: key("read-only"), tier: "pro", scope: "read-only" },
      oneAgent: { key: key("one-agent"), tier: "pro", agents: [agents["echo"]] },
      elsewhere: { key: key("ip-restricted"), tier: "pro", allowedIps: ["203.0.113.9"] },
      temporary: { key: key("temporary"), tier: "pro", expiresInSeconds: 3600 },
    },
    agents: {
      answering: agents["echo"],
      streaming: agents["streaming"],
      slow: agents["slow"],
      slowStreaming: agents["slow-streaming"],
      failing: agents["failing"],
      failingInStream: agents["stream-failing"],
      overloaded: agents["overloaded"],
      timingOut: agents["timing-out"],
      degraded: agents["degraded"],
      unhealthy: agents["unhealthy"],
      remembering: agents["memory"],
    },
    webhooks: { listen: "127.0.0.1:0" },
    clock: { advance: { url: clock.url, body: { advanceMs: "${milliseconds}" } } },
    triggers: Object.fromEntries(
      ["created", "updated", "deleted", "health_changed"].map((event) => [`deployment.${event}`, trigger(event)]),
    ),
    paths: { batch: "/agents/{agent_id}/batch" },
  };
}

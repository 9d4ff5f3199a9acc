import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { z } from "zod";

import { targetFromObject } from "../../../target/target-file.ts";
import type { Target } from "../../../target/target.ts";

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

const sources = new URL("../../../../tools/third-party/go", import.meta.url).pathname;

let folder: string | undefined;
const builtIn = (): string => (folder ??= mkdtempSync(join(tmpdir(), "stranger-")));

/**
 * Builds the vendor's server unless it is built already. Another author wrote it in Go, with only the document at hand.
 * Returns the path of the program.
 */
function buildVendor(): string {
  const binary = join(builtIn(), "go-vendor");
  if (!existsSync(binary)) {
    const { status, stderr } = spawnSync("go", ["build", "-o", binary, "."], { cwd: sources, encoding: "utf8" });
    if (status !== 0) throw new Error(`The vendor in Go cannot be built: ${stderr}`);
  }
  return binary;
}

export function vendorSwitches(): ServerSwitch[] {
  const { stdout } = spawnSync(buildVendor(), ["--list"], { encoding: "utf8" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .map(([kind = "", name = ""]) => ({ kind, name }));
}

/** Starts the server on a free loopback port. Returns a target with every role and a test clock. */
export async function startVendor(
  switches: readonly ServerSwitch[],
): Promise<{ readonly target: Target; readonly close: () => void }> {
  const flags = "--port 0 --test-clock --temporary-seconds 3600 --slow-seconds 1 --stream-delay-ms 120".split(" ");
  const child = spawn(buildVendor(), [...flags, ...switches.flatMap(({ kind, name }) => [`--${kind}`, name])], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const startMessage = await startMessageOf(child);
  return {
    target: targetFromObject(targetFileOf(startMessage), "the vendor in go", {}),
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

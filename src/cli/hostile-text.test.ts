import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "hostile-text-"));
const conformance = commandLineIn(folder);

/** Texts with characters that move the cursor of a terminal, or that reorder or hide other text. */
const hostile = {
  "an ANSI escape": "a\u001b[31m\u001b]0;title\u0007b",
  "a line feed and a return": "a\nb\rc",
  "a C1 control": "a\u009b2Jb",
  "bidirectional marks": "a\u202eb\u2066c\u2069\u200e\u200f\u061c",
  "zero-width characters": "a\u200b\u2060\ufeffb",
} as const;
type Hostile = keyof typeof hostile;

const save = (path: string, content: unknown): string => {
  writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const target = (changes: object): string =>
  save("target.json", { baseUrl: "http://127.0.0.1:9", keys: { main: { key: "pk_1", tier: "pro" } }, ...changes });
const atDead = ["--base-url", "http://127.0.0.1:9", "--api-key", "pk_1"];

const example = new URL("../../reports/example", import.meta.url).pathname;
const report = (name: string, change: (report: Record<string, unknown>) => object): string => {
  cpSync(example, join(folder, name), { recursive: true });
  const text = readFileSync(join(folder, name, "report.json"), "utf8");
  save(join(name, "report.json"), change(JSON.parse(text) as Record<string, unknown>));
  return name;
};

/** Command lines by the kind of their argument. Each contains a hostile text as this argument. */
const commands: Readonly<Record<string, (text: string) => string[]>> = {
  "a command": (text) => [text],
  "a flag": (text) => ["run", `--${text}`],
  "a surplus argument": (text) => ["run", text],
  "a target file's path": (text) => ["run", "--target", text],
  "a target file's name": (text) => ["plan", "--target", target({ name: text })],
  "the name of a key": (text) => ["plan", "--target", target({ keys: { [text]: { key: "pk_1", tier: "pro" } } })],
  "the key itself": (text) => ["plan", "--target", target({ keys: { main: { key: text } } })],
  "a tier": (text) => ["plan", "--target", target({ keys: { main: { key: "pk_1", tier: text } } })],
  "an agent": (text) => ["plan", "--target", target({ agents: { answering: text } })],
  "an agent, as JSON": (text) => ["plan", "--json", "--target", target({ name: text, agents: { answering: text } })],
  "an unknown field": (text) => ["plan", "--target", target({ [text]: 1 })],
  "an unknown field of a key": (text) => ["plan", "--target", target({ keys: { main: { key: "pk_1", [text]: 1 } } })],
  "a variable": (text) => ["plan", "--target", target({ keys: { main: { key: `\${${text}}` } } })],
  "a base URL": (text) => ["run", "--base-url", text, "--api-key", "pk_1"],
  "a base URL's path": (text) => ["plan", "--base-url", `http://127.0.0.1:9/${text}`, "--api-key", "pk_1"],
  "a proxy": (text) => ["plan", ...atDead, "--proxy", text],
  "a certificate": (text) => ["plan", ...atDead, "--ca", text],
  "a receiver": (text) => ["plan", ...atDead, "--receiver-listen", text],
  "a selection": (text) => ["run", "--only", text],
  "a duration": (text) => ["run", "--max-wait", text],
  "a fault": (text) => ["run", "--fault", text],
  "a clause": (text) => ["explain", text],
  "a level": (text) => ["list", "--level", text],
  "a party": (text) => ["list", "--party", text],
  "an output": (text) => ["run", "--json", join("/proc", text)],
  "an output folder": (text) => ["run", "--out", join("/proc", text)],
  "a baseline's path": (text) => ["run", "--baseline", text],
  "a baseline's field": (text) => ["run", "--baseline", save("baseline.json", { known: [], [text]: 1, knowns: text })],
  "a report's path": (text) => ["report", text],
  "a report's target": (text) => [
    "report",
    report("named", (each) => ({
      ...each,
      target: { ...(each["target"] as object), name: text, agents: { [text]: text } },
    })),
  ],
  "a report that stopped": (text) => ["report", report("stopped", (each) => ({ ...each, stopped: text }))],
  "a damaged report": (text) => ["report", report("damaged", (each) => ({ ...each, verdict: text, [text]: 1 }))],
  "compared reports": (text) => ["compare", example, report("other", (each) => ({ ...each, started: text }))],
  "a check to replay": (text) => ["replay", example, text],
  "an instance to replay": (text) => ["replay", example, "SSE-5", "--instance", text],
  "a vendors file's path": (text) => ["vendors", text],
  "a vendor's name": (text) => ["vendors", save("vendors.json", { vendors: [{ name: text, report: "none" }] })],
  "a vendor's report": (text) => ["vendors", save("vendors.json", { vendors: [{ name: "a", report: text }] })],
  "a statement's path": (text) => ["verify", text, example],
  "a statement's field": (text) => ["verify", save("statement.json", { format: text, [text]: 1 }), example],
  "a history's path": (text) => ["trend", "--history", text, "--html", "trend.html"],
  "a file in a history": (text) => {
    mkdirSync(join(folder, "history", "nights"), { recursive: true });
    save(join("history", "nights", `2026-01-01T02-00-00-000Z-${text.replaceAll("/", "")}.json`), text);
    return ["trend", "--history", "history", "--html", "trend.html"];
  },
  "load evidence": (text) => ["load", "judge", text],
  "a scenario": (text) => ["load", text],
  "an agent file": (text) => ["serve", "--port", "0", "--agent", text],
  "an agent file's field": (text) => [
    "serve",
    "--port",
    "0",
    "--agent",
    save("agent.json", { agent_name: 1, framework: [text], version: { [text]: text } }),
  ],
  "a port": (text) => ["serve", "--port", text],
  "a watched folder": (text) => ["watch", text],
};

const harmful = /(?![\n\t])[\p{Cc}\p{Cf}]/u;

describe.each(Object.keys(commands))("text from outside in %s", (place) => {
  it.each(Object.keys(hostile) as Hostile[])("reaches no stream as %s", async (kind) => {
    const { code, out, err } = await conformance(commands[place]?.(hostile[kind]) ?? []);
    expect(`${out}${err}`.match(harmful)?.[0] ?? "").toBe("");
    expect(code).not.toBe(4);
    expect(err).not.toMatch(/\n\s+at .*:\d+/);
  });
});

describe("a colour from outside", () => {
  it.each(Object.keys(commands))("does not reach a terminal with colours: %s", async (place) => {
    const colour = "\u001b[35;7m";
    const variables = { NO_COLOR: "", FORCE_COLOR: "1" };
    const { out, err } = await conformance(commands[place]?.(colour) ?? [], variables);
    expect(`${out}${err}`).not.toContain(colour);
  });
});

describe("an address from the environment", () => {
  it.each(Object.keys(hostile) as Hostile[])("reaches no stream as %s", async (kind) => {
    const variables = { CONFORMANCE_BASE_URL: hostile[kind], CONFORMANCE_API_KEY: "pk_1" };
    const { code, out, err } = await conformance(["run"], variables);
    expect(`${out}${err}`).not.toMatch(harmful);
    expect(code).toBe(2);
  });
});

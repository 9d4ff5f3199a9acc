import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "wrong-place-"));
const conformance = commandLineIn(folder);

const key = "sk_live_aaaabbbbccccdddd";
const file = (changes: object): string => {
  const path = join(folder, "target.json");
  writeFileSync(path, JSON.stringify({ baseUrl: "http://127.0.0.1:9", keys: { main: { key: "pk_1" } }, ...changes }));
  return path;
};
const at = ["--base-url", "http://127.0.0.1:9", "--api-key", "pk_1"];

describe("a usage error about a key in the wrong place does not repeat it", () => {
  it.each<[string, string[], Record<string, string>?]>([
    ["a command", [key]],
    ["a flag", ["run", `--${key}`]],
    ["a flag with a value", ["run", `--api-kye=${key}`]],
    ["a surplus argument", ["run", key]],
    ["a base URL", ["run", "--base-url", key, "--api-key", "x"]],
    ["a base URL's user", ["run", "--base-url", `https://${key}@h/v1`, "--api-key", "x"]],
    ["a base URL's query", ["run", "--base-url", `https://h/v1?key=${key}`, "--api-key", "x"]],
    ["a base URL's fragment", ["run", "--base-url", `https://h/v1#${key}`, "--api-key", "x"]],
    ["a base URL with a header", ["run", "--base-url", `Bearer ${key}`, "--api-key", "x"]],
    ["a tier", ["run", ...at, "--tier", key]],
    ["a target file", ["run", "--target", key]],
    ["a proxy", ["run", ...at, "--proxy", `${key}:x y`]],
    ["a certificate", ["run", ...at, "--ca", key]],
    ["a receiver", ["run", ...at, "--receiver-listen", key]],
    ["a receiver's URL", ["run", ...at, "--receiver-url", key]],
    ["a selection", ["run", "--only", key]],
    ["a wait", ["run", "--max-wait", key]],
    ["a number of requests", ["run", "--max-requests", key]],
    ["a fault", ["run", "--fault", key]],
    ["a baseline", ["run", "--baseline", key]],
    ["a report", ["report", key]],
    ["a report below a folder", ["report", `/none/${key}`]],
    ["a clause", ["explain", key]],
    ["a scenario", ["load", key]],
    ["an engine", ["load", "burst", "--engine", key]],
    ["a variable's name", ["init", "--base-url", "http://127.0.0.1:9", "--key-variable", key, "--yes"]],
    ["a port", ["serve", "--port", key]],
    ["an agent file", ["serve", "--agent", key]],
    ["a history", ["trend", "--history", key, "--html", "x.html"]],
    ["an unknown field of a target file", ["run", "--target", file({ [key]: 1 })]],
    ["the environment", ["run"], { CONFORMANCE_BASE_URL: key, CONFORMANCE_API_KEY: "x" }],
    [
      "the proxy of the environment",
      ["run", "--base-url", "http://h", "--api-key", "x"],
      { HTTPS_PROXY: `ftp://${key}` },
    ],
  ])("%s", async (_, args, variables) => {
    const { code, out, err } = await conformance(args, variables);
    expect(`${out}${err}`).not.toMatch(/aaaabbbb/);
    // `trend` takes the key for the name of a history folder. That folder has no nights, so the exit code is 3.
    expect([code, out]).toEqual([args[0] === "trend" ? 3 : 2, ""]);
    expect(err.trimEnd()).not.toBe("");
  });

  it.each<[string, object]>([
    ["its base URL", { baseUrl: key }],
    ["the name of a key's tier", { keys: { main: { key: "pk_1", tier: key } } }],
    ["a variable", { keys: { main: { key: `\${${key}}` } } }],
    ["a field of a key", { keys: { main: { [key]: "pk_1" } } }],
    ["a role", { agents: { [key]: "a" } }],
  ])("of a target file: %s", async (_, changes) => {
    const { code, out, err } = await conformance(["run", "--target", file(changes)]);
    expect(err).not.toMatch(/aaaabbbb/);
    expect([code, out]).toEqual([2, ""]);
  });
});

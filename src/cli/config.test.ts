import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { readReport, contradictionInReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "config-"));
const conformance = commandLineIn(folder);

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

const good = {
  agent_name: "Weather bot",
  framework: "plain",
  version: "1.0.0",
  agent_id: "weather-1",
  agent_architecture: { entrypoints: [{ file: "main.py", module: "answer", tag: "answer" }] },
};
file("good.json", JSON.stringify(good));
file("wrong.json", JSON.stringify({ ...good, version: 1 }, null, 2));
const yaml = [
  "agent_name: Weather bot",
  "framework: plain",
  "version: 1.0",
  "agent_architecture:",
  "  entrypoints:",
  "    - { file: main.py, module: answer, tag: answer }",
  "env_vars:",
  "  PORT: 8080",
  "  DEBUG: true",
].join("\n");
file("wrong.yaml", yaml);

describe("conformance config", () => {
  it("ends with 0 for a file that breaks nothing, and sends nothing", async () => {
    const { code, out } = await conformance(["config", "good.json"]);
    expect(out).toMatch(/^conformant: 18 checks of 14 clauses passed$/m);
    expect(code).toBe(0);
  });

  it("ends with 1, and shows each breach with its clause, file, line and column", async () => {
    const { code, out } = await conformance(["config", "good.json", "wrong.yaml"]);
    expect(out).toContain("FAIL  CFG-1  cause 2 · must");
    expect(out).toMatch(/expected +version: a string\n +actual +1\n +where +wrong\.yaml:3:1\n/);
    expect(out).toMatch(/where +wrong\.yaml:8:3\n/);
    expect(out).toMatch(/also +expected env_vars\.DEBUG: a string; got a boolean, at wrong\.yaml:9:3\n/);
    expect(out).toMatch(/to see it again\n.* config wrong\.yaml\n/);
    expect(out).toMatch(/^nonconformant: 2 must clauses broken \(CFG-1, CFG-8\)/m);
    expect(code).toBe(1);
  });

  it("notes an id that two files have", async () => {
    const { code, out } = await conformance(["config", "good.json", file("same.json", JSON.stringify(good))]);
    expect(out).toMatch(/^note {2}CFG-5 .*\n?.*/m);
    expect(out.replaceAll(/\s+/g, " ")).toContain(
      'agent_id: another id than that of good.json; got "weather-1", at same.json:1:',
    );
    expect(code).toBe(0);
  });

  it("writes the same report and formats as a run", async () => {
    const formats = ["--json", "report.json", "--junit", "junit.xml", "--html", "page.html", "--markdown", "page.md"];
    expect(await conformance(["config", "wrong.json", ...formats])).toMatchObject({ code: 1 });
    const text = (name: string): string => readFileSync(join(folder, name), "utf8");
    const report = readReport(text("report.json"), "report.json");
    expect(report).toMatchObject({ party: "file", verdict: "nonconformant", requests: 0 });
    expect(report.findings).toContainEqual({
      check: "CFG-1",
      clause: "CFG-1",
      suite: "wrong.json",
      level: "must",
      since: "1.2",
      outcome: "fail",
      expected: "version: a string",
      actual: "1",
      where: { file: "wrong.json", line: 4, column: 3 },
    });
    expect(contradictionInReport(report)).toBeNull();
    for (const name of ["junit.xml", "page.html"]) expect(text(name)).toContain("wrong.json:4:3");
    expect(text("page.md")).toContain("where <code>wrong&#46;json&#58;4&#58;3</code>");
    expect(await conformance(["report", "report.json", "--exit-code"])).toMatchObject({ code: 1 });
  });

  it("annotates each breach at its place for GitHub Actions", async () => {
    const { out } = await conformance(["config", "wrong.yaml"], { GITHUB_ACTIONS: "true" });
    expect(out.split("\n").filter((line) => line.startsWith("::"))).toEqual([
      expect.stringMatching(/^::error file=wrong\.yaml,line=3,col=1,title=CFG-1 \(must\)::/),
      expect.stringMatching(/^::error file=wrong\.yaml,line=8,col=3,title=CFG-8 \(must\)::/),
      expect.stringMatching(/^::error file=wrong\.yaml,line=9,col=3,title=CFG-8 \(must\)::/),
    ]);
  });

  it("is named by the list of the clauses that it judges", async () => {
    const { out } = await conformance(["list", "--party", "file"]);
    expect(out).toMatch(/^CFG-1 .* by config$/m);
    expect(out).toContain("`conformance config FILE` judges");
    expect((await conformance(["list", "--party", "people"])).out).not.toContain("config FILE");
  });

  it.each<[string, readonly string[], RegExp]>([
    ["that is missing", ["none.json"], /^The configuration file cannot be read: none\.json \(ENOENT\)\.\n$/],
    ["that is a device", ["/dev/zero"], /^\/dev\/zero ends in none of \.json, \.yaml and \.yml/],
    ["that is a folder", ["."], /^\. ends in none of/],
    ["of an unknown ending", [file("agent.toml", "")], /^agent\.toml ends in none of \.json, \.yaml and \.yml/],
    ["that is no JSON", [file("cut.json", '{\n  "a": 1,\n}')], /^cut\.json:3:1: the file is not JSON: [^\n]*\.\n$/],
    ["that is no YAML", [file("cut.yml", "a: [1\n")], /^cut\.yml:\d:\d: the file is not YAML: [^\n]*\.\n$/],
    ["that is too long", [file("long.json", " ".repeat(1024 * 1024 + 1))], /long\.json exceeds 1 MiB\.\n$/],
  ])("ends with 2 and one line for a file %s", async (_, args, message) => {
    const { code, out, err } = await conformance(["config", ...args]);
    expect(err).toMatch(message);
    expect(out).toBe("");
    expect(code).toBe(2);
  });
});

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";

import { type ReferenceProcess, startReferenceProcess } from "../reference/embedded/process/server-process.ts";
import { contradictionInReport, readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "config-target-"));
const conformance = commandLineIn(folder);

const agent = { framework: "plain", version: "2.0.0", agent_architecture: { entrypoints: [] } };
const write = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
write("echo.json", { ...agent, agent_name: "Echo", agent_id: "echo" });
write("named.json", { ...agent, agent_name: "elder" });
write("unknown.json", { ...agent, agent_name: "nobody" });

let served: ReferenceProcess;
let key = "";
beforeAll(async () => {
  served = await startReferenceProcess();
  ({ key } = await served.issueKey("pro"));
  write("target.json", { baseUrl: served.baseUrl, keys: { pro: { key, tier: "pro" } } });
  write("gone.json", { baseUrl: "http://127.0.0.1:9", keys: { pro: { key, tier: "pro" } } });
});
afterAll(() => served.close());

it("puts what a target shows of an agent beside its file, and judges nothing of it", async () => {
  const names = ["echo.json", "named.json", "unknown.json"];
  const { code, err } = await conformance(["config", ...names, "--target", "target.json", "--json", "report.json"]);
  const text = readFileSync(join(folder, "report.json"), "utf8");
  const report = readReport(text, "report.json");
  const said = report.findings.flatMap(({ check, reason }) => (check.includes("hosted") ? [reason] : []));
  expect(said).toContain('`version` of echo: the file: "2.0.0"; health: "1.0.0"; invoke: "1.0.0"; the list: "1.0.0"');
  expect(said).toContain('`version` of elder: the file: "2.0.0"; health: "0.9.3"; invoke: "0.9.3"; the list: "0.9.3"');
  expect(said).toContain("the file has no `agent_id`, and no agent on the first page of the list has its name");
  expect(err).toContain("observed  echo.json  `version` of echo: the file");
  expect([code, report.requests, contradictionInReport(report)]).toEqual([0, 5, null]);
  expect(text).not.toContain(key);
});

it("goes on without a target that cannot be reached", async () => {
  const { code, out } = await conformance(["config", "echo.json", "--target", "gone.json"]);
  expect([code, out]).toEqual([0, expect.stringContaining("conformant")]);
});

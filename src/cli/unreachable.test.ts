import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { formatNames } from "../report/formats/registry.ts";
import { findJunitCase, junitSchemaErrors, parseJunit } from "../report/formats/testing/read-formats.ts";
import { readReport } from "../report/model/report-file.ts";
import type { Report } from "../report/model/report.ts";
import { startHostile } from "../wire/testing/hostile.ts";
import { flagForSetting } from "./options.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "unreachable-"));
const command = commandLineIn(folder);
const down = "http://127.0.0.1:9/v1";
const other = { baseUrl: "" };
let close = (): void => {};

beforeAll(async () => {
  const server = await startHostile((socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"));
  other.baseUrl = server.baseUrl;
  close = server.close;
});
afterAll(() => {
  close();
});

const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const reportIn = (name: string): Report => readReport(textOf(`${name}/report.json`), name);
const aimed = (baseUrl: string): string[] => ["--base-url", baseUrl, "--api-key", "ab_key_of_a_test", "--tier", "pro"];
/** Returns flags that write each format into a file. */
const formatsFor = (prefix: string, names: readonly string[] = formatNames): string[] =>
  names.flatMap((name) => [flagForSetting(name as (typeof formatNames)[number]), `${prefix}.${name}`]);

describe("a target that cannot be asked", () => {
  const reasons = {
    "is down": [() => down, /^No answer from http:\/\/127\.0\.0\.1:9\/v1: .* Is the server running/],
    "is another API": [() => other.baseUrl, /is not an Agent Hosting Service Interface/],
  } as const;

  it.each(Object.entries(reasons))("has every file of a run all the same where it %s", async (is, [baseUrl, says]) => {
    const name = `run ${is}`;
    const { code, out, err } = await command(["run", ...aimed(baseUrl()), "--out", name, ...formatsFor(name)]);
    expect([code, out, err]).toEqual([3, "", expect.stringMatching(/^report {2}.*report\.json\n\nunreachable: /m)]);
    const report = reportIn(name);
    expect(report).toMatchObject({ verdict: "unreachable", stopped: expect.stringMatching(says) });
    expect(new Set(report.findings.map(({ outcome }) => outcome))).toEqual(new Set(["skipped"]));
    for (const each of formatNames) expect(textOf(`${name}.${each}`)).not.toBe("");
    const xml = textOf(`${name}.junit`);
    expect(await junitSchemaErrors(xml)).toEqual([]);
    expect(parseJunit(xml).testsuites).toMatchObject({ failures: "0", errors: "1" });
    expect(findJunitCase(xml, "the target can be judged")?.error?.message).toMatch(says);
    expect(textOf(`${name}.markdown`)).toContain("## Conformance: unreachable");
  });

  it.each(Object.entries(reasons))("has every file of load all the same where it %s", async (is, [baseUrl, says]) => {
    const name = `load ${is}`;
    const formats = formatsFor(
      name,
      formatNames.filter((each) => each !== "har"),
    );
    const { code, out } = await command(["load", "burst", ...aimed(baseUrl()), "--out", name, ...formats]);
    expect([code, out]).toEqual([3, ""]);
    expect(reportIn(name)).toMatchObject({ verdict: "unreachable", stopped: expect.stringMatching(says) });
    expect(await junitSchemaErrors(textOf(`${name}.junit`))).toEqual([]);
    expect(findJunitCase(textOf(`${name}.junit`), "the target can be judged")?.error?.message).toMatch(says);
  });

  it("prints the report and nothing else where that is asked", async () => {
    const { code, out, err } = await command(["run", ...aimed(down), "--json", "-", "--out", "printed"]);
    expect([code, (JSON.parse(out) as Report).verdict, out]).toEqual([3, "unreachable", textOf("printed/report.json")]);
    expect(err).toContain("unreachable: No answer");
  });

  it("is judged again, and shown again, as what it was", async () => {
    await command(["run", ...aimed(down), "--out", "again"]);
    const again = await command(["rejudge", "again", "--json"]);
    const shown = await command(["report", "again"]);
    expect([again.code, shown.out]).toEqual([3, expect.stringContaining("unreachable: No answer")]);
    expect(again.out).toContain("unreachable");
  });

  it("has a night, and its reports, in the history", async () => {
    const args = [
      "nightly",
      "--history",
      "nights",
      "--no-load",
      "-q",
      "--markdown",
      "night.md",
      "--json",
      "night.json",
    ];
    const { code } = await command([...args, ...aimed(down)]);
    const night = JSON.parse(textOf("night.json")) as { readonly night: Report };
    expect([code, night.night]).toMatchObject([
      3,
      { verdict: "unreachable", stopped: expect.stringMatching(/^No answer/) },
    ]);
    expect(textOf("night.md")).toMatch(/^No answer/m);
    const [id = ""] = readdirSync(join(folder, "nights/reports"));
    expect(reportIn(`nights/reports/${id}/run`).verdict).toBe("unreachable");
  });

  it("has a column beside other vendors, and a report of its own", async () => {
    const target = { baseUrl: down, keys: { pro: { key: "ab_key_of_a_test", tier: "pro" } } };
    writeFileSync(join(folder, "vendors.json"), JSON.stringify({ vendors: [{ name: "Down", target }] }));
    const files = ["--html", "v.html", "--markdown", "v.md", "--json", "v.json"];
    const { code } = await command(["vendors", "vendors.json", "--out", "side", ...files]);
    expect([code, reportIn("side/down").verdict]).toEqual([3, "unreachable"]);
    for (const name of ["v.html", "v.md", "v.json"]) expect(textOf(name)).toContain("No answer from");
  });
});

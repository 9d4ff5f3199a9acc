import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { reportSchema } from "../report/model/report.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "failed-"));
const conformance = commandLineIn(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fault = ["--fault", "missing-query-other-code"];

const clausesOf = (report: string): string[] => {
  const { findings } = reportSchema.parse(JSON.parse(readFileSync(join(folder, report, "report.json"), "utf8")));
  return [...new Set(findings.map(({ clause }) => clause))];
};

describe("run --failed", async () => {
  const first = await conformance(["run", ...fault, "--only", "INV-1*", "--out", "first"]);

  it("judges only the checks that failed, and ends as any run", async () => {
    expect(first.code).toBe(1);
    expect(clausesOf("first").length).toBeGreaterThan(5);
    expect(await conformance(["run", ...fault, "--failed", "first", "--out", "again"])).toMatchObject({ code: 1 });
    expect(clausesOf("again")).toEqual(["INV-10"]);
  });

  it("ends with 0 once the server is mended, and then finds nothing to repeat", async () => {
    expect(await conformance(["run", "--failed", "first/report.json", "--out", "mended"])).toMatchObject({ code: 0 });
    expect(await conformance(["run", "--failed", "mended"])).toMatchObject({
      code: 2,
      err: "Nothing failed in mended, so there is nothing to repeat. A whole run judges the rest.\n",
    });
  });

  it("is planned by `plan --failed`", async () => {
    const probesOf = async (...flags: string[]) =>
      (JSON.parse((await conformance(["plan", "--json", ...flags])).out) as { readonly probes: object }).probes;
    expect(await probesOf("--failed", "first")).toEqual(await probesOf("--only", "INV-10"));
  });

  it.each([
    [["--failed", "first", "--only", "INV-10"], /^--failed and --only exclude each other: /],
    [["--failed", "first", "--skip", "INV-10"], /^No check is left/],
    [["--failed", "nowhere"], /^The report cannot be read: nowhere \(ENOENT\)/],
  ])("%j is refused", async (flags, message) => {
    const { code, err } = await conformance(["run", ...flags]);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
});

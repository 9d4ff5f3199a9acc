import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import {
  judge,
  load,
  night,
  NothingToJudge,
  readReport,
  rejudge,
  renderVendorsHtml,
  renderVendorsMarkdown,
  startServer,
  UsageProblem,
  vendors,
  writeReport,
} from "./index.ts";

const root = mkdtempSync(join(tmpdir(), "library-use-cases-"));
afterAll(() => rmSync(root, { recursive: true }));

const broken = { embedded: true, faults: ["result-is-text"] } as const;

describe("rejudge", () => {
  it("says of kept evidence what the run has said", async () => {
    const judged = await judge(broken, { only: ["INV-2", "HLT-1"] });
    const folder = join(root, "kept");
    writeReport(judged, folder);
    const again = rejudge(folder);
    expect(again.report.findings).toEqual(expect.arrayContaining([...judged.report.findings]));
    expect(again.verdict).toBe("nonconformant");
  });

  it("takes no folder without a report", () => {
    expect(() => rejudge(join(root, "none"))).toThrow(UsageProblem);
  });
});

describe("load", () => {
  it("judges the limits of the embedded server, writes the report, and can be rendered", async () => {
    const folder = join(root, "load");
    const choice = { scenarios: ["concurrency"], engine: "autocannon", tier: "free", folder } as const;
    const { verdict, document } = await load({ embedded: true }, choice);
    expect(verdict).toBe("partial");
    expect(document.report.load?.runs).toMatchObject([{ scenario: "concurrency", engine: "autocannon" }]);
    expect(document.report.totals.fail).toBe(0);
    expect(readReport(folder).report).toEqual(document.report);
    await expect(load(broken, { scenarios: ["storm"] })).rejects.toThrow(/no load scenario "storm"/);
    expect(() => rejudge(folder)).toThrow(/is the report of a load run/);
  });

  it("sends nothing where the signal has come before", async () => {
    await expect(load({ embedded: true }, { signal: AbortSignal.abort() })).rejects.toThrow(NothingToJudge);
  });
});

describe("night", () => {
  it("keeps the night, and tells what became worse since the one before", async () => {
    const history = join(root, "nights");
    const first = await night({ embedded: true }, history, { only: ["INV-2"] });
    expect([first.regressions, first.run?.report.verdict, first.load]).toEqual([[], "partial", null]);
    const second = await night(broken, history, { only: ["INV-2"] });
    expect(second.regressions).toMatchObject([{ kind: "failing" }]);
    expect(existsSync(join(history, "nights", `${second.id}.json`))).toBe(true);
    await expect(night({ embedded: true }, history, { regression: "speed" })).rejects.toThrow(UsageProblem);
  });
});

describe("vendors", () => {
  it("stand side by side, and one that cannot be used costs the others nothing", async () => {
    await using sound = await startServer({ clock: "virtual" });
    await using faulty = await startServer({ clock: "virtual", faults: ["result-is-text"] });
    const described = { Acme: sound, Borealis: faulty, Cirrus: { file: join(root, "nowhere.json") } };
    const all = await vendors(described, { folder: join(root, "vendors"), only: ["INV-2"] });
    expect(all.vendors.map((head) => (head.kind === "judged" ? head.verdict : head.kind))).toEqual([
      "partial",
      "nonconformant",
      "unjudged",
    ]);
    expect(renderVendorsHtml(all)).toContain("Borealis");
    expect(renderVendorsMarkdown(all)).toContain("Borealis");
  });
});

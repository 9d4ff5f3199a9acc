import { newestRequirements } from "../../spec/clause.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { sampleFinding } from "../../report/testing/sample.ts";
import { sampleVendor } from "../../report/vendors/testing/vendors.ts";
import { selectChecks } from "../../run/plan/selection.ts";
import { suites } from "../../suites/all.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { foldersOf, judgeConcurrently, type ListedVendor } from "./judge-vendor.ts";
import { vendorsExitCode } from "../../cli/commands/vendors.ts";
import { cliMessages } from "../../cli/messages.ts";

const root = mkdtempSync(join(tmpdir(), "judge-all-"));
afterAll(() => rmSync(root, { recursive: true }));

const judging = {
  suites: selectChecks(suites, { only: ["INV-10"], skip: [] }),
  ...defaultBounds,
  maxRequests: 50,
  maxWaitMs: 0,
  messages: cliMessages,
  requirements: newestRequirements,
};
const parts = { concurrency: 4, folderOf: (name: string) => join(root, name), sayOf: () => () => {} };
const named = (name: string, target: Extract<ListedVendor, { kind: "target" }>["target"]): ListedVendor => ({
  kind: "target",
  name,
  target,
  load: null,
});

describe("vendors that are judged at the same time", () => {
  it("are judged one after the other where they are one deployment", async () => {
    const { target, close } = await startEmbedded();
    const said: string[] = [];
    const vendors = ["a", "b", "c"].map((name) => named(name, () => target));
    const sayOf = (name: string) => (text: string) => void said.push(`${name} ${text.split(" ")[0]}`);
    await judgeConcurrently({
      ...parts,
      sayOf,
      vendors,
      judging: { ...judging, signal: new AbortController().signal },
    });
    await close();
    const order = said.filter((line) => /judging|partial/.test(line)).map((line) => line.split(" ")[0]);
    expect(order).toEqual(["a", "a", "b", "b", "c", "c"]);
  });

  it("end at once where their user ends them, with a column each", async () => {
    const silent = await startAnsweringServer(() => {});
    const target = aTarget(silent.baseUrl, { keys: { main: aKey({ name: "main", key: "k", tier: "pro" }) } });
    const controller = new AbortController();
    const sayOf = () => (text: string) => {
      if (text.startsWith("judging")) controller.abort();
    };
    const vendors = [named("a", () => target), named("b", () => target)];
    const judged = await judgeConcurrently({
      ...parts,
      sayOf,
      vendors,
      judging: { ...judging, signal: controller.signal },
    });
    silent.close();
    expect(judged.map(({ vendor }) => vendor.kind === "unjudged" && vendor.reason)).toEqual([
      expect.stringMatching(/^Interrupted/),
      "Interrupted before anything was sent to it.",
    ]);
    expect(vendorsExitCode(judged, true)).toBe(130);
  });
});

describe("the exit code of several vendors", () => {
  const fine = { vendor: sampleVendor("fine", [sampleFinding()]), target: null, isHarnessError: false, noLoad: null };
  const broken = {
    vendor: sampleVendor("broken", [sampleFinding({ outcome: "fail" })]),
    target: null,
    isHarnessError: false,
    noLoad: null,
  };
  const down = {
    vendor: { kind: "unjudged", name: "down", baseUrl: null, reason: "" },
    target: null,
    isHarnessError: false,
    noLoad: null,
  } as const;
  const unloaded = { ...fine, noLoad: { kind: "nothing to load", sentence: "No answer." } } as const;
  const harness = { ...down, isHarnessError: true };

  it.each([
    ["all fine", [fine, fine], 0],
    ["one broken", [fine, broken, down, harness], 1],
    ["one not judged", [fine, down], 3],
    ["one lost before its load", [fine, unloaded], 3],
    ["one lost before its load, and something broken", [broken, unloaded], 1],
    ["the harness failed", [fine, harness], 4],
    ["one cannot be reached, and the harness failed", [harness, down], 3],
  ] as const)("%s", (_, judged, code) => {
    expect(vendorsExitCode(judged, false)).toBe(code);
  });
});

describe("folders of vendors", () => {
  it("have a name of their own each, and stay in the folder of the output", () => {
    const names = ["Acme", "acme!", "../../etc", "北", "ß"];
    expect([...foldersOf(names, "out").values()]).toEqual(
      ["acme", "acme-2", "etc", "vendor", "vendor-2"].map((name) => join("out", name)),
    );
  });
});

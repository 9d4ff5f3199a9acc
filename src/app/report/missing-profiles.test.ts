import { beforeAll, describe, expect, it } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { patchesByName } from "../../reference/catalogue.ts";
import { fault, faults, type Patch } from "../../reference/patch.ts";
import type { Report } from "../../report/model/report.ts";
import { unexercisedOfferedMusts } from "../../report/model/verdict.ts";
import { formatText } from "../../report/terminal/section-lines.ts";
import { verdictReasons } from "../../report/model/verdict-summary.ts";
import { newestRequirements } from "../../spec/clause.ts";
import type { Target } from "../../target/target.ts";
import { libraryMessages } from "../../library/scope.ts";
import { suites } from "../../suites/all.ts";
import { runAndReport } from "../judge/run-and-report.ts";
import { contradictionInReport } from "../../report/model/report-file.ts";
import { rejudgeRun } from "../rejudge.ts";

/** A server that has only `core` and `streaming`: other paths are missing, nothing is limited, no header tells limits. */
const small: readonly Patch[] = faults("Endpoints", {
  small: fault("USE-1", "Webhooks, alerts, operations and limits are missing.").by(() => ({
    servedPath: (path) => (/^\/v1\/(webhooks|alerts|operations|keys)\b|\/batch\b/.test(path) ? "/v1/nothing" : path),
    isLimited: () => false,
    takesSlot: () => false,
    rateHeaders: () => [],
  })),
});

async function reportOn(patches: readonly Patch[], offers: Target["offers"]) {
  const embedded = await startEmbedded(patches);
  const signal = new AbortController().signal;
  try {
    const target = { ...embedded.target, offers };
    const options = {
      target,
      suites,
      messages: libraryMessages,
      requirements: newestRequirements,
      maxWaitMs: 0,
      signal,
    };
    return await runAndReport(options);
  } finally {
    await embedded.close();
  }
}

const verdictsOf = ({ profiles = [] }: Report) =>
  Object.fromEntries(profiles.map(({ profile, verdict }) => [profile, verdict]));
const reasonsOf = (report: Report): string => formatText(verdictReasons(report));

describe("a server with core, streaming and signing only, which says so", () => {
  let run: Awaited<ReturnType<typeof reportOn>>;
  beforeAll(async () => {
    run = await reportOn(small, ["streaming", "signing"]);
  }, 60_000);

  it("is conformant for what it offers, and has no verdict for the rest", () => {
    expect(run.report.findings.filter(({ outcome }) => outcome === "fail")).toEqual([]);
    expect(verdictsOf(run.report)).toEqual({
      core: "conformant",
      streaming: "conformant",
      signing: "conformant",
      access: "not offered",
      webhooks: "not offered",
      limits: "not offered",
      operations: "not offered",
    });
  });

  it("is partial as a whole, and the verdict says why", () => {
    expect(run.report.verdict).toBe("partial");
    expect(reasonsOf(run.report)).toContain("not offered: webhooks, limits, operations, access");
    expect(reasonsOf(run.report)).not.toContain("not exercised");
  });

  it("is complete for --complete", () => {
    expect(unexercisedOfferedMusts(run.report)).toEqual([]);
  });

  it("tells what is not offered apart from what could not be tried", () => {
    const reasonOf = (id: string) => run.report.findings.find(({ clause }) => clause === id)?.reason;
    expect(reasonOf("WHK-1")).toMatch(/^not offered: /);
    expect(run.report.findings.filter(({ reason, needs }) => reason?.startsWith("not offered") && needs)).toEqual([]);
  });

  it("gets the same verdicts when its evidence is judged again", () => {
    const again = rejudgeRun(run.report, run.evidence, libraryMessages);
    expect(verdictsOf(again)).toEqual(verdictsOf(run.report));
    expect(again.verdict).toBe("partial");
  });

  it("cannot be given a better verdict by hand", () => {
    expect(contradictionInReport(run.report)).toBeNull();
    const profiles = run.report.profiles?.map((each) => ({ ...each, verdict: "conformant" as const }));
    expect(contradictionInReport({ ...run.report, ...(profiles && { profiles }) })).toContain(
      "its verdict for the profile",
    );
  });
});

describe("a server whose webhooks are there and wrong", () => {
  it("is nonconformant, whatever it says that it offers", async () => {
    const { report } = await reportOn(patchesByName(["signature-missing"], []), ["streaming"]);
    expect(report.verdict).toBe("nonconformant");
    expect(verdictsOf(report)).toMatchObject({ core: "conformant", webhooks: "not offered" });
    expect(report.findings.some(({ clause, outcome }) => clause === "HOOK-21" && outcome === "fail")).toBe(true);
  }, 60_000);
});

describe("a general clause that is broken at one endpoint", () => {
  let report: Report;
  beforeAll(async () => {
    ({ report } = await reportOn(patchesByName(["errors-elsewhere-in-no-form"], []), null));
  }, 60_000);

  it("breaks the profiles of the endpoints concerned, and no other", () => {
    expect(verdictsOf(report)).toMatchObject({
      core: "conformant",
      streaming: "conformant",
      webhooks: "nonconformant",
    });
    expect(report.verdict).toBe("nonconformant");
  });
});

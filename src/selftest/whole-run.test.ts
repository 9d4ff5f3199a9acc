import { beforeAll, describe, expect, it } from "vitest";

import { documentOf } from "../app/report-folder/saved-report.ts";
import type { RedactedRun } from "../app/judge/run-and-report.ts";
import { type Judged, judgedRun } from "../cli/testing/judged-session.ts";
import { rejudgeRun } from "../app/rejudge.ts";
import { cliMessages } from "../cli/messages.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { patchesByName, findPatch } from "../reference/catalogue.ts";
import { type TierName, tierNames } from "../spec/tiers.ts";
import { renderHtml } from "../report/html/render-html.ts";
import { serializeEvidence, readEvidence } from "../report/model/report-file.ts";
import type { Outcome } from "../report/model/finding.ts";
import { suites } from "../suites/all.ts";
import type { Target } from "../target/target.ts";
import { withSmallTiers } from "./trial.ts";

async function judged(faults: readonly string[], part: (target: Target) => Target): Promise<Judged> {
  const embedded = await startEmbedded(patchesByName(faults, []));
  try {
    return await judgedRun({ target: part(embedded.target), suites });
  } finally {
    await embedded.close();
  }
}

const checksWith = ({ report }: Judged, ...outcomes: readonly Outcome[]): string[] =>
  report.findings.filter(({ outcome }) => outcomes.includes(outcome)).map(({ check }) => check);

function foundAgain({ report, evidence }: Judged): RedactedRun["report"]["findings"] {
  const kept = readEvidence(serializeEvidence(evidence), "evidence.json");
  return rejudgeRun(report, kept, cliMessages).findings;
}

const titlesIn = (page: string): string[] =>
  [...page.matchAll(/<figcaption>\s*<strong>([^<]*)</g)].map(([, title = ""]) => title);

/** Returns the defects of a report's page: missing titles of charts, and links without a target. */
function pageOf({ report, evidence }: Judged, tiers: readonly TierName[]) {
  const page = renderHtml(documentOf(report, evidence));
  const titles = titlesIn(page);
  const wanted = [
    ...tiers.flatMap((tier) => ["a minute", "an hour"].map((span) => `${tier}: admitted and refused in ${span}`)),
    "Retries of failed deliveries",
    "Streams, event by event",
  ];
  const ids = new Set([...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id));
  return {
    word: /<p class="word">([^<]*)<\/p>/.exec(page)?.[1],
    isSmall: page.length < 1_500_000,
    missing: wanted.filter((title) => !titles.includes(title)),
    dead: [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = ""]) => id).filter((id) => !ids.has(id)),
  };
}

const fine = { isSmall: true, missing: [], dead: [] };

describe("the reference server without a fault, on every tier", () => {
  let session: Judged;
  beforeAll(async () => {
    session = await judged([], (target) => target);
  });

  it("has no breach, and no check is skipped", () => {
    expect(checksWith(session, "fail", "warning", "note", "error", "skipped")).toEqual([]);
  });

  it("is told by a page that is small, shows each tier's limits, and has no dead link", () => {
    expect(pageOf(session, tierNames)).toEqual({ ...fine, word: "Conformant" });
  });

  it("is judged again to the same findings", () => {
    expect(foundAgain(session)).toEqual(session.report.findings);
  });
});

describe("the reference server with four faults, on two tiers, which ask for a fifth of the requests", () => {
  const faults = ["missing-query-other-code", "done-twice", "signature-of-another-secret", "crash-answers-200"];
  let session: Judged;
  beforeAll(async () => {
    session = await judged(faults, withSmallTiers);
  });

  it("shows what each fault breaks, without an error of the harness", () => {
    const broken = new Set(
      session.report.findings.flatMap(({ outcome, clause }) =>
        ["fail", "warning", "note"].includes(outcome) ? [clause] : [],
      ),
    );
    const missed = faults.flatMap((name) => findPatch("fault", name)?.breaks ?? []).filter((id) => !broken.has(id));
    expect(missed).toEqual([]);
    expect(checksWith(session, "error")).toEqual([]);
  });

  it("is told by a page that is small, shows both tiers' limits, and has no dead link", () => {
    expect(pageOf(session, ["free", "enterprise"])).toEqual({ ...fine, word: "Not conformant" });
  });

  it("is judged again to the same findings", () => {
    expect(foundAgain(session)).toEqual(session.report.findings);
  });
});

import { describe, expect, it } from "vitest";

import { startEmbedded } from "../../embedded/embedded.ts";
import { type TierName, tierNames } from "../../interface/tiers.ts";
import { readPatches } from "../../embedded/patches.ts";
import { conduct } from "../../app/judge/session.ts";
import { documentOf } from "../../app/folder/read-document.ts";
import { withSmallTiers } from "../../selftest/trial.ts";
import { suites } from "../../suites/all.ts";
import type { ReportDocument } from "../report.ts";
import { renderHtml } from "./render.ts";
import { cliWording } from "../../cli/wording.ts";

/** Without a fault on every tier; with faults on two of them, which ask for a fifth of the requests. */
const tiersWith = (faults: readonly string[]): readonly TierName[] =>
  faults.length === 0 ? tierNames : ["free", "enterprise"];

async function runOf(faults: readonly string[]): Promise<ReportDocument> {
  const embedded = await startEmbedded(readPatches(faults, []));
  try {
    const session = await conduct({
      target: faults.length === 0 ? embedded.target : withSmallTiers(embedded.target),
      suites,
      maxRequests: 30_000,
      isReadOnly: false,
      maxWaitMs: 0,
      wording: cliWording,
      signal: new AbortController().signal,
    });
    if (session.kind !== "judged") throw new Error(session.sentence);
    return documentOf(session.report, session.evidence);
  } finally {
    await embedded.close();
  }
}

const titlesIn = (page: string): string[] =>
  [...page.matchAll(/<figcaption>\s*<strong>([^<]*)</g)].map(([, title = ""]) => title);

describe("the page of a real run", () => {
  it.each([
    ["without a fault", [], "Conformant"],
    ["with three faults", ["missing-query-other-code", "done-twice", "signature-of-another-secret"], "Not conformant"],
  ])("%s is small, shows each tier's limits, and has no dead link", { timeout: 120_000 }, async (_, faults, word) => {
    const page = renderHtml(await runOf(faults));
    expect(page.includes(`<p class="word">${word}</p>`)).toBe(true);
    expect(page.length).toBeLessThan(1_500_000);
    const titles = titlesIn(page);
    for (const tier of tiersWith(faults)) {
      expect(titles).toContain(`${tier}: admitted and refused in a minute`);
      expect(titles).toContain(`${tier}: admitted and refused in an hour`);
    }
    expect(titles).toEqual(expect.arrayContaining(["Retries of failed deliveries", "Streams, event by event"]));
    const ids = new Set([...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id));
    const dead = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = ""]) => id).filter((id) => !ids.has(id));
    expect(dead).toEqual([]);
  });
});

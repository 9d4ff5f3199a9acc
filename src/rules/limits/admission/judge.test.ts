import { describe, expect, it } from "vitest";

import { publishedTiers, type TierLimits } from "../../../spec/tiers.ts";
import { decisionOf, type DecisionOutcome, type History } from "./history.ts";
import { judgeAdmission, possibleShapes } from "./judge.ts";
import { admitted, refused, script } from "./testing/histories.ts";

const free = publishedTiers.free;
/** Limits with a burst of 1, so that only the minute's limit decides. */
const plain: TierLimits = { ...free, burst: 1 };
const options = { toleranceMs: 5, slotReleaseMs: 5 };
const verdictOf = (history: History, limits: TierLimits) => {
  const judgement = judgeAdmission(history, limits, options);
  return judgement.kind === "explained" ? "explained" : `${judgement.breach}: ${judgement.limit}`;
};

describe("a history is explained", () => {
  const legal: [string, TierLimits, History][] = [
    ["with no requests", free, script()],
    ["at the published number", free, script({ fromMs: 0, everyMs: 100, outcomes: [...admitted(10), ...refused(5)] })],
    ["with the burst on top", free, script({ fromMs: 0, everyMs: 100, outcomes: [...admitted(20), ...refused(5)] })],
    [
      "with twice the number around a boundary",
      plain,
      script(
        { fromMs: 0, everyMs: 100, outcomes: admitted(1) },
        { fromMs: 58_000, everyMs: 100, outcomes: admitted(19) },
      ),
    ],
    [
      "when a rolling window gives back one at a time",
      free,
      script(
        { fromMs: 0, everyMs: 1000, outcomes: admitted(10) },
        { fromMs: 60_100, everyMs: 500, outcomes: ["admitted", "refused", "admitted", "refused"] },
      ),
    ],
    [
      "when a bucket refills",
      free,
      script(
        { fromMs: 0, everyMs: 100, outcomes: [...admitted(10), "refused"] },
        { fromMs: 6500, everyMs: 6000, outcomes: admitted(5) },
        { fromMs: 31_000, everyMs: 100, outcomes: refused(2) },
      ),
    ],
    [
      "when earlier use is not known",
      free,
      { ...script({ fromMs: 0, everyMs: 100, outcomes: refused(3) }), priorUse: "counted" },
    ],
    [
      "when nothing was answered",
      free,
      script({ fromMs: 0, everyMs: 100, outcomes: Array<DecisionOutcome>(60).fill("unknown") }),
    ],
  ];
  it.each(legal)("%s", (_, limits, history) => {
    expect(verdictOf(history, limits)).toBe("explained");
  });

  it("when tokens may be used up", () => {
    const history = script({ fromMs: 0, everyMs: 100, outcomes: refused(3) });
    expect(judgeAdmission(history, free, { tokensMayBeExhausted: true }).kind).toBe("explained");
  });
});

describe("a history is a breach", () => {
  const illegal: [string, TierLimits, History, string][] = [
    [
      "refused one below the number",
      free,
      script({ fromMs: 0, everyMs: 100, outcomes: [...admitted(9), "refused"] }),
      "refused below limit: any",
    ],
    ["refused at once", free, script({ fromMs: 0, everyMs: 100, outcomes: refused(30) }), "refused below limit: any"],
    [
      "more than any window shape and the burst admit",
      free,
      script({ fromMs: 0, everyMs: 100, outcomes: admitted(41) }),
      "too many admitted: minute",
    ],
    [
      "one too many, with the same boundary twice impossible",
      free,
      script(
        { fromMs: 0, everyMs: 10, outcomes: [...admitted(11), ...refused(2)] },
        { fromMs: 75_000, everyMs: 10, outcomes: [...admitted(11), ...refused(2)] },
      ),
      "too many admitted: minute",
    ],
    [
      "more than two hours' worth within an hour",
      free,
      script({ fromMs: 0, everyMs: 17_000, outcomes: admitted(201) }),
      "too many admitted: hour",
    ],
    [
      "the burst on top once, and refused without it later",
      free,
      script(
        { fromMs: 0, everyMs: 10, outcomes: [...admitted(20), "refused"] },
        { fromMs: 200_000, everyMs: 10, outcomes: [...admitted(10), "refused"] },
        { fromMs: 437_000, everyMs: 10, outcomes: [...admitted(20), "refused"] },
      ),
      "too many admitted: minute",
    ],
  ];
  it.each(illegal)("%s", (_, limits, history, expected) => {
    expect(verdictOf(history, limits)).toBe(expected);
  });

  it("with more slots held at once than the tier has", () => {
    const held = [0, 1, 2].map((index) =>
      decisionOf({
        id: `h${index}`,
        sentMs: index,
        answeredMs: 1000,
        endedMs: 1000,
        outcome: "admitted",
        minOccupiedMs: 900,
      }),
    );
    const judgement = judgeAdmission({ priorUse: "nothing", decisions: held }, free, options);
    expect(judgement).toMatchObject({ breach: "too many admitted", limit: "concurrency", witness: ["h0", "h1", "h2"] });
  });
});

describe("a witness", () => {
  it("names only the requests that prove the breach, with their numbers", () => {
    const history = script({ fromMs: 0, everyMs: 100, outcomes: admitted(60) });
    const judgement = judgeAdmission(history, free, options);
    expect(judgement).toMatchObject({ actual: "41 admitted within 4.0 s, on a key not used before" });
    expect(judgement.kind === "breach" && judgement.witness.length).toBe(41);
  });

  it("of a refusal with room is that refusal", () => {
    const history = script({ fromMs: 0, everyMs: 100, outcomes: [...admitted(9), "refused", ...admitted(1)] });
    expect(judgeAdmission(history, free, options)).toMatchObject({ witness: ["r9"] });
  });
});

describe("the shape", () => {
  it("is not rolling when everything comes back at once", () => {
    const history = script(
      { fromMs: 0, everyMs: 3000, outcomes: [...admitted(10), "refused"] },
      { fromMs: 61_000, everyMs: 10, outcomes: [...admitted(10), "refused"] },
    );
    const judgement = judgeAdmission(history, plain, options, true);
    const shapes = judgement.kind === "explained" ? possibleShapes(judgement.readings) : null;
    expect(shapes?.minute).toContain("fixed");
    expect(shapes?.minute).not.toContain("rolling");
  });
});

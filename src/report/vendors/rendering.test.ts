import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { displayWidth } from "../../base/text.ts";
import { hostileText } from "../testing/hostile.ts";
import { sampleFinding } from "../testing/sample.ts";
import { compareVendors } from "./comparison.ts";
import { renderVendorsTerminal } from "./terminal.ts";
import { unjudgedVendor, sampleVendor, vendorsWithText } from "./testing/vendors.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
describe("texts of targets", () => {
  it("send no control character to a terminal", () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 40, max: 200 }), (text, width) => {
        const shown = renderVendorsTerminal(compareVendors(vendorsWithText(`x${text}`), createdAt), {
          colour: false,
          width,
        });
        expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u);
        // Only lines of the table must fit. A note, or the label before a line, may be wider than a narrow terminal.
        const table = shown.split("\n").filter((line) => /^(verdict|base URL|clauses|requests) /.test(line));
        for (const line of table) expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(60, width));
      }),
      // A name that was once cut in the middle of a surrogate pair.
      { examples: [["\uFFFC🤍⺀🎠", 47]] },
    );
  });
});

describe("vendors on a terminal", () => {
  const vendors = ["Acme", "Borealis", "Cumulus", "Drift", "Echo"].map((name, at) =>
    sampleVendor(name, [sampleFinding({ outcome: at === 0 ? "fail" : "pass", expected: "a", actual: "b" })]),
  );
  const shown = (width: number): string =>
    renderVendorsTerminal(compareVendors(vendors, createdAt), { colour: false, width });

  it.each([60, 80, 100, 140])("fit %i columns in as many parts as needed, with every vendor", (width) => {
    const lines = shown(width).split("\n");
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
    for (const { name } of vendors) expect(lines.some((line) => line.includes(name))).toBe(true);
  });

  it("say why a vendor has no column, and which clauses differ", () => {
    const text = renderVendorsTerminal(
      compareVendors([...vendors.slice(0, 2), unjudgedVendor("Down", "No answer.")], createdAt),
      {
        colour: false,
        width: 100,
      },
    );
    expect(text).toMatch(/^not judged {2}Down: No answer\.$/m);
    expect(text).toMatch(/^SSE-5 +✓ pass +✗ fail$/m);
    expect(text).toMatch(/\n3 deployments: .*They differ in 1 clause[^]*\n$/);
  });
});

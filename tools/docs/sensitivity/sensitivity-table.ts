import { publishedTiers } from "../../../src/spec/tiers.ts";
import { type SensitivityResults, minuteResults, zeroRemainingResults } from "./results.ts";
import { type Situation, situations } from "./sensitivity.ts";

const columns = Object.keys(situations) as readonly Situation[];
const tiers = ["free", "pro"] as const;
type Tier = (typeof tiers)[number];
type Published = "perMinute" | "perHour" | "concurrent";

/** The table of `docs/trust.md` that says how small an excess a run detects. */
export function sensitivityTable(): string {
  const row = (what: string, cell: (situation: Situation) => string): string =>
    `| ${what} | ${columns.map(cell).join(" | ")} |`;
  const numbers = (of: Published, found: (tier: Tier) => number): string =>
    tiers.map((tier) => `${found(tier)} of ${publishedTiers[tier][of]}`).join(", ");
  const told =
    ({ found }: SensitivityResults) =>
    (situation: Situation): string =>
      numbers("perMinute", (tier) => found[tier][situation]);
  const oneMore = (of: Published): string => numbers(of, (tier) => publishedTiers[tier][of] + 1);
  return [
    `| what is admitted | ${columns.join(" | ")} |`,
    `|---|${columns.map(() => "---|").join("")}`,
    row("in a minute (LIM-1)", told(minuteResults)),
    row("in a minute, after the headers have said `Remaining: 0` (HDR-19)", told(zeroRemainingResults)),
    row("in an hour (LIM-3)", (situation) => (situations[situation].hasClock ? oneMore("perHour") : "not looked for")),
    row("at once (LIM-5), where a slow agent is named", () => oneMore("concurrent")),
  ].join("\n");
}

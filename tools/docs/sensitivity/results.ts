import { publishedTiers } from "../../../src/spec/tiers.ts";
import { type LooseLimit, type Situation, looseAfterZeroRemaining, looseMinute, situations } from "./sensitivity.ts";

/**
 * Results for a kind of server that admits more requests per minute than the tier allows. `detected` is the smallest
 * number of admitted requests per minute at which a check fails in every simulated run.
 */
export interface SensitivityResults {
  readonly looseLimit: LooseLimit;
  readonly detected: Readonly<Record<"free" | "pro", Readonly<Record<Situation, number>>>>;
}

export const minuteResults: SensitivityResults = {
  looseLimit: looseMinute,
  detected: {
    free: { "one key, a real clock": 21, "a fresh key, a real clock": 21, "a test clock": 21 },
    pro: { "one key, a real clock": 201, "a fresh key, a real clock": 201, "a test clock": 201 },
  },
};

export const zeroRemainingResults: SensitivityResults = {
  looseLimit: looseAfterZeroRemaining,
  detected: {
    free: { "one key, a real clock": 21, "a fresh key, a real clock": 16, "a test clock": 11 },
    pro: { "one key, a real clock": 151, "a fresh key, a real clock": 151, "a test clock": 102 },
  },
};

const columns = Object.keys(situations) as readonly Situation[];
const tiers = ["free", "pro"] as const;
type Tier = (typeof tiers)[number];
type Published = "perMinute" | "perHour" | "concurrent";

export function sensitivityTable(): string {
  const row = (what: string, cell: (situation: Situation) => string): string =>
    `| ${what} | ${columns.map(cell).join(" | ")} |`;
  const numbers = (of: Published, detected: (tier: Tier) => number): string =>
    tiers.map((tier) => `${detected(tier)} of ${publishedTiers[tier][of]}`).join(", ");
  const perMinute =
    ({ detected }: SensitivityResults) =>
    (situation: Situation): string =>
      numbers("perMinute", (tier) => detected[tier][situation]);
  const oneMore = (of: Published): string => numbers(of, (tier) => publishedTiers[tier][of] + 1);
  return [
    `| what is admitted | ${columns.join(" | ")} |`,
    `|---|${columns.map(() => "---|").join("")}`,
    row("in a minute (LIM-1)", perMinute(minuteResults)),
    row("in a minute, after the headers have said `Remaining: 0` (HDR-19)", perMinute(zeroRemainingResults)),
    row("in an hour (LIM-3)", (situation) => (situations[situation].hasClock ? oneMore("perHour") : "not looked for")),
    row("at once (LIM-5), where a slow agent is named", () => oneMore("concurrent")),
  ].join("\n");
}

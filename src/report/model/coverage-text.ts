import { formatNumber } from "../../base/numbers.ts";
import { joinFirst } from "../../base/text.ts";
import type { ReportFinding } from "./report.ts";

type Seen = NonNullable<ReportFinding["seen"]>;
const mostCells = 8;

/** What was looked at, those that are broken first: `41 looked at, 3 broken: list 200 (3 of 12), invoke 200 (29)`. */
export function formatCoverage({ looked, broken, cells }: Seen): string {
  const inOrder = [...cells.filter((each) => each.broken > 0), ...cells.filter((each) => each.broken === 0)];
  const said = inOrder.map(
    (each) =>
      `${each.of} ${each.kind} (${each.broken > 0 ? `${formatNumber(each.broken)} of ` : ""}${formatNumber(each.looked)})`,
  );
  return `${formatNumber(looked)} looked at${broken > 0 ? `, ${formatNumber(broken)} broken` : ""}: ${joinFirst(said, mostCells)}`;
}

/** What was not seen, and what it takes; empty where all was. */
export function formatUncovered({ unseen }: Seen): string {
  const byNeed = Map.groupBy(unseen, ({ needs = "" }) => needs);
  return [...byNeed]
    .map(([needs, those]) => {
      const names = joinFirst(
        those.map(({ of, kind }) => `${of} ${kind}`),
        mostCells,
      );
      return needs === "" ? names : `${names} (takes ${needs})`;
    })
    .join("; ");
}

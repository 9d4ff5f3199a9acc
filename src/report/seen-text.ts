import { grouped } from "../base/numbers.ts";
import { firstOf } from "../base/text.ts";
import type { ReportFinding } from "./report.ts";

type Seen = NonNullable<ReportFinding["seen"]>;
const mostCells = 8;

/** What was looked at, those that are broken first: `41 looked at, 3 broken: list 200 (3 of 12), invoke 200 (29)`. */
export function seenText({ looked, broken, cells }: Seen): string {
  const inOrder = [...cells.filter((each) => each.broken > 0), ...cells.filter((each) => each.broken === 0)];
  const said = inOrder.map(
    (each) =>
      `${each.of} ${each.kind} (${each.broken > 0 ? `${grouped(each.broken)} of ` : ""}${grouped(each.looked)})`,
  );
  return `${grouped(looked)} looked at${broken > 0 ? `, ${grouped(broken)} broken` : ""}: ${firstOf(said, mostCells)}`;
}

/** What was not seen, and what it takes; empty where all was. */
export function unseenText({ unseen }: Seen): string {
  const byNeed = Map.groupBy(unseen, ({ needs = "" }) => needs);
  return [...byNeed]
    .map(([needs, those]) => {
      const names = firstOf(
        those.map(({ of, kind }) => `${of} ${kind}`),
        mostCells,
      );
      return needs === "" ? names : `${names} (takes ${needs})`;
    })
    .join("; ");
}

import { sumOf } from "../../base/numbers.ts";
import { isMinuteLimit } from "../../rules/limits/header-rules.ts";
import { isRefused } from "../../rules/limits/sample.ts";
import type { Cell, Coverage } from "../../run/judge/coverage.ts";
import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import type { Flow } from "../scenarios.ts";

/** Puts answers into cells; those alike share one, so that it may be told by identity. */
export function createCellIndex({
  tier,
  limits,
}: Pick<LoadEvidence, "tier" | "limits">): (
  flow: Flow,
  answer: Pick<LoadSample, "status" | "limit" | "remaining">,
) => Cell {
  const known = new Map<string, Map<string, Cell>>();
  return ({ operation, key }, answer) => {
    const of = matrixRow(operation.kind, tier, key);
    const kind = stateOf(answer, limits);
    const kinds = known.get(of) ?? new Map<string, Cell>();
    known.set(of, kinds);
    const cell = kinds.get(kind) ?? { of, kind };
    kinds.set(kind, cell);
    return cell;
  };
}

/** An endpoint by the tier of the key that asked it: `invoke pro`, `invoke pro, second key`. */
export const matrixRow = (endpoint: string, tier: string | null, key: string): string =>
  `${endpoint} ${tier ?? "?"}${key === "second" ? ", second key" : ""}`;

/** The status; of a refusal also what it says of the limit: that of the minute, of the hour, or that there is room in the window, as for a slot. */
function stateOf(
  { status, limit, remaining }: Pick<LoadSample, "status" | "limit" | "remaining">,
  limits: LoadEvidence["limits"],
): string {
  if (status === null) return "no answer";
  if (!isRefused({ status })) return String(status);
  if (remaining === null || limit === null) return "429 bare";
  if (remaining > 0) return "429 room";
  if (isMinuteLimit(limit, limits)) return "429 minute";
  return limit === limits.perHour ? "429 hour" : "429 other";
}

/** Counts what was looked at, by cell. */
export interface CoverageCounter {
  readonly add: (cell: Cell, isBroken: boolean, count?: number) => void;
  readonly coverage: () => Coverage;
}

export function createCoverageCounter(): CoverageCounter {
  const counts = new Map<Cell, { looked: number; broken: number }>();
  const opened = (cell: Cell) => {
    const count = { looked: 0, broken: 0 };
    counts.set(cell, count);
    return count;
  };
  return {
    add: (cell, isBroken, count = 1) => {
      const kept = counts.get(cell) ?? opened(cell);
      kept.looked += count;
      if (isBroken) kept.broken += count;
    },
    coverage: () => {
      const cells = [...counts].map(([cell, count]) => ({ ...cell, ...count }));
      const sum = (of: "looked" | "broken"): number => sumOf(cells.map((cell) => cell[of]));
      return { looked: sum("looked"), broken: sum("broken"), cells, unseen: [] };
    },
  };
}

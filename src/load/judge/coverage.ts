import { sumOf } from "../../base/numbers.ts";
import { isMinuteLimit } from "../../rules/limits/header-rules.ts";
import { isRefused } from "../../rules/limits/sample.ts";
import type { Cell, Coverage } from "../../run/judge/coverage.ts";
import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import type { Flow } from "../scenarios.ts";

/**
 * Creates a function that finds the cell of a response in the coverage matrix. Equal cells are the same object, so that
 * they can be counted by object.
 */
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

/**
 * Returns the name of a row of the coverage matrix: endpoint, tier and key, such as `invoke pro` or `invoke pro, second
 * key`.
 */
export const matrixRow = (endpoint: string, tier: string | null, key: string): string =>
  `${endpoint} ${tier ?? "?"}${key === "second" ? ", second key" : ""}`;

/**
 * Returns the name of a column of the coverage matrix: the status and, for a 429, the limit that it reports. `429 room`
 * has `Remaining` above 0, so it is for too many concurrent requests.
 */
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

/** Counts checked responses by cell of the coverage matrix. */
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

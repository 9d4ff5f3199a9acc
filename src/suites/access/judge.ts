import type { EndpointName } from "../../interface/endpoints.ts";
import { type Breach, breach, type Finding, holds, type Unproven, unproven } from "../../run/finding.ts";
import { codeOf } from "../answers/error-body.ts";
import { type Everything, provenEndpoints } from "../answers/recorded.ts";
import { hasStatus, isSuccess, outcomeOf } from "../answers/shape.ts";
import { isOpen, statusSaid } from "../answers/wording.ts";
import type { Cell, Tried } from "./asking.ts";
import { type Expectation, kindsOfKeys } from "./kinds.ts";

/** What a cell shows: `open` that it tells nothing. */
type Verdict = "right" | "wrong" | "open";

/** Whether a key was let in. A stream that opens may still refuse in its first event. */
function isLetIn({ kind, endpoint, exchange }: Cell): boolean {
  const { expects }: { readonly expects: Expectation } = kindsOfKeys[kind];
  if (!isSuccess(exchange) || exchange.answer.kind !== "answered") return false;
  if (endpoint !== "stream" || expects.status === 401) return true;
  return exchange.answer.events.some(({ name }) => name === "chunk" || name === "done");
}

export function verdictOf(cell: Cell, proven: ReadonlySet<EndpointName>): Verdict {
  const { expects }: { readonly expects: Expectation } = kindsOfKeys[cell.kind];
  if (isOpen(cell.exchange)) return "open";
  if (isLetIn(cell)) return "wrong";
  if (expects.status === "no success") return proven.has(cell.endpoint) ? "right" : "open";
  if (!hasStatus(cell.exchange, expects.status)) return proven.has(cell.endpoint) ? "wrong" : "open";
  const code = codeOf(cell.exchange);
  // The code itself tells that it is for the key; without one, only the same request with a good key does.
  if (expects.code === "EXPIRED_API_KEY" && code !== null) return code === expects.code ? "right" : "wrong";
  if (!proven.has(cell.endpoint) || (expects.code !== null && code === null)) return "open";
  return expects.code === null || code === expects.code ? "right" : "wrong";
}

/** Cells by what they show. */
export interface Sorted {
  readonly right: readonly Cell[];
  readonly wrong: readonly Cell[];
  readonly open: readonly Cell[];
}

export function sortCells(cells: readonly Cell[], proven: ReadonlySet<EndpointName>): Sorted {
  const { right = [], wrong = [], open = [] } = Object.groupBy(cells, (cell) => verdictOf(cell, proven));
  return { right, wrong, open };
}

/** So many broken cells are named, and so many are shown. */
const mostNamed = 8;
const mostShown = 5;

/** All broken cells in one breach: "on 3 of 41 requests: an expired key on list (200), usage (200); …". */
export function breachOf(expected: string, wrong: readonly Cell[], judged: number): Breach {
  const named = wrong.slice(0, mostNamed);
  const rest = wrong.length > named.length ? `, and ${wrong.length - named.length} more` : "";
  const byKind = Map.groupBy(named, ({ kind }) => kind);
  const said = [...byKind].map(([kind, cells]) => `${kind} on ${cells.map(cellSaid).join(", ")}`);
  const share = `on ${wrong.length} of ${judged} request${judged === 1 ? "" : "s"}`;
  return breach(
    expected,
    `${share}: ${said.join("; ")}${rest}`,
    ...wrong.slice(0, mostShown).map(({ exchange }) => exchange),
  );
}

const cellSaid = ({ endpoint, exchange }: Cell): string =>
  `${endpoint} (${isSuccess(exchange) ? outcomeOf(exchange) : statusSaid(exchange)})`;

/** One finding on many cells: broken where one of them is, and proven where one shows it. */
export function judgeCells(
  expected: string,
  cells: readonly Cell[],
  proven: ReadonlySet<EndpointName>,
): Finding<never> {
  const { right, wrong, open } = sortCells(cells, proven);
  if (wrong.length > 0) return breachOf(expected, wrong, right.length + wrong.length);
  return right.length > 0 ? holds() : nothingShown(open);
}

export function nothingShown(open: readonly Cell[]): Unproven {
  const limited = open.some(({ exchange }) => hasStatus(exchange, 429));
  if (limited) return unproven("the requests met a 429 before any other answer", "an address that is not limited");
  const [first] = open;
  return first === undefined
    ? unproven("no endpoint could be asked")
    : unproven(`no endpoint let a good key in, so that a refusal proves nothing (${cellSaid(first)})`);
}

/** Endpoints that let such keys in: what comes there with others tells nothing more. */
export const openTo = (cells: readonly Cell[]): ReadonlySet<EndpointName> =>
  new Set(cells.filter(isLetIn).map(({ endpoint }) => endpoint));

/** All that was sent, with a wrong key's cells. */
export interface Others {
  readonly strangers: Tried;
  readonly all: Everything;
}

/**
 * Judges a kind of key wherever a wrong key is not let in: what lets any key in is AUTH-3's and AUTH-8's.
 *
 * @param excused endpoints on which another clause is broken
 */
export function judgeWhereClosed(
  expected: string,
  { cells }: Tried,
  { strangers, all }: Others,
  excused: ReadonlySet<EndpointName> = new Set(),
): Finding<never> {
  const open = openTo(strangers.cells.filter(({ kind }) => kind === "a wrong key"));
  const judged = cells.filter(({ endpoint }) => !open.has(endpoint) && !excused.has(endpoint));
  return judgeCells(expected, judged, provenEndpoints(all));
}

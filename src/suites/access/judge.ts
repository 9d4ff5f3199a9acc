import type { EndpointName } from "../../interface/endpoints.ts";
import type { KeyKind } from "../../interface/key-kinds.ts";
import type { JudgedId, ReadingOf } from "../../interface/clauses.ts";
import type { Check, CheckOptions, EvidenceOf, Probes } from "../../run/check.ts";
import { type Finding, holds, type Unproven, unproven } from "../../run/finding.ts";
import type { Probe } from "../../run/probe.ts";
import { universal } from "../../run/universal.ts";
import { codeOf } from "../answers/error-body.ts";
import { type Everything, provenEndpoints } from "../answers/recorded.ts";
import { hasStatus, isSuccess, outcomeOf } from "../answers/shape.ts";
import { isOpen, statusSaid } from "../answers/wording.ts";
import type { Cell, Tried } from "./asking.ts";
import { keysUniverse, kindsOfKeys } from "./kinds.ts";

/** What a cell shows: `open` that it tells nothing. */
export type Verdict = "right" | "wrong" | "open";

/** Whether a key was let in. A stream that opens may still refuse in its first event. */
function isLetIn({ kind, endpoint, exchange }: Cell): boolean {
  const { expects } = kindsOfKeys[kind];
  if (!isSuccess(exchange) || exchange.answer.kind !== "answered") return false;
  if (endpoint !== "stream" || expects.status === 401) return true;
  return exchange.answer.events.some(({ name }) => name === "chunk" || name === "done");
}

export function verdictOf(cell: Cell, proven: ReadonlySet<EndpointName>): Verdict {
  const { expects } = kindsOfKeys[cell.kind];
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

/** A cell and what it shows. */
export interface Shown {
  readonly cell: Cell;
  readonly verdict: Verdict;
}

export const shownBy = (cells: readonly Cell[], verdict: (cell: Cell) => Verdict): Shown[] =>
  cells.map((cell) => ({ cell, verdict: verdict(cell) }));

/** What cells show where these endpoints let a good key in. */
export const shownIn = (cells: readonly Cell[], proven: ReadonlySet<EndpointName>): Shown[] =>
  shownBy(cells, (cell) => verdictOf(cell, proven));

interface AccessParts<E, R extends string> extends CheckOptions {
  readonly kinds: readonly KeyKind[];
  readonly expected: (evidence: E) => string;
  /** The cells that the clause speaks of. */
  readonly shown: (evidence: E) => readonly Shown[];
  /** What else has to be so, besides that no cell is wrong; `null` where it is. */
  readonly besides?: (evidence: E, right: readonly Cell[]) => Finding<R> | null;
  /** Why no cell shows anything, where that is not for the requests themselves. */
  readonly none?: (evidence: E) => Unproven | null;
}

/** A check of what comes of kinds of keys: broken where one request is, and proven where one shows it. */
export const ofKeys = <const K extends JudgedId, const P extends Probe | Probes>(
  clause: K,
  on: P,
  { kinds, expected, shown, besides, none, ...options }: AccessParts<EvidenceOf<P>, ReadingOf<K>>,
): Check =>
  universal(clause, on, {
    ...options,
    universe: keysUniverse(kinds),
    noun: "requests",
    members: (evidence) =>
      shown(evidence).map((each) => ({
        cell: { of: each.cell.endpoint, kind: each.cell.kind },
        proof: each.cell.exchange,
        subject: { ...each, expected: expected(evidence) },
      })),
    say: ({ cell, verdict, expected: wanted }) => {
      if (verdict === "open") return undefined;
      return verdict === "right" ? null : { expected: wanted, actual: `${cell.kind} on ${cellSaid(cell)}` };
    },
    together: (broken) => brokenSaid(broken.map(({ cell }) => cell)),
    agree: (right, evidence) =>
      besides?.(
        evidence,
        right.map(({ cell }) => cell),
      ) ?? holds(),
    none: (evidence) =>
      none?.(evidence) ?? besides?.(evidence, []) ?? nothingShown(shown(evidence).map(({ cell }) => cell)),
  });

/** So many broken cells are named. */
const mostNamed = 8;

/** All broken cells: "an expired key on list (200), usage (200); …". */
function brokenSaid(broken: readonly Cell[]): string {
  const named = broken.slice(0, mostNamed);
  const rest = broken.length > named.length ? `, and ${broken.length - named.length} more` : "";
  const said = [...Map.groupBy(named, ({ kind }) => kind)].map(
    ([kind, cells]) => `${kind} on ${cells.map(cellSaid).join(", ")}`,
  );
  return `${said.join("; ")}${rest}`;
}

const cellSaid = ({ endpoint, exchange }: Cell): string =>
  `${endpoint} (${isSuccess(exchange) ? outcomeOf(exchange) : statusSaid(exchange)})`;

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
 * What a kind of key shows wherever a wrong key is not let in: what lets any key in is AUTH-3's and AUTH-8's.
 *
 * @param excused endpoints on which another clause is broken
 */
export function shownWhereClosed(
  { cells }: Tried,
  { strangers, all }: Others,
  excused: ReadonlySet<EndpointName> = new Set(),
): Shown[] {
  const open = openTo(strangers.cells.filter(({ kind }) => kind === "a wrong key"));
  return shownIn(
    cells.filter(({ endpoint }) => !open.has(endpoint) && !excused.has(endpoint)),
    provenEndpoints(all),
  );
}

import { joinWithOr } from "../../../base/text.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../../spec/endpoints.ts";
import { type RejectedKeyKind, rejectedKeyKinds } from "../../../spec/rejected-key-kinds.ts";
import { type Enabler, need } from "../../../run/skip-reason.ts";
import type { DocumentedCell, CoverageMatrix } from "../../../run/judge/coverage.ts";

/** What must come of a kind of key: 401 (with that code, where one is given), or anything but success. */
export type Expectation =
  | { readonly status: 401; readonly code: "INVALID_API_KEY" | "EXPIRED_API_KEY" | null }
  | { readonly status: "no success" };

interface Row {
  readonly clause: ClauseId;
  readonly expects: Expectation;
  /** Endpoints on which it is tried. */
  readonly on: readonly EndpointName[];
  /** What it takes to try it on each of them, besides the key itself; `null` where it takes no more. */
  readonly reach: Enabler | null;
}

const row = (
  clause: ClauseId,
  expects: Expectation,
  { on = endpointNames, reach = null }: Partial<Pick<Row, "on" | "reach">> = {},
): Row => ({ clause, expects, on, reach });

const refused = { status: 401, code: null } as const;
const wrong = { status: 401, code: "INVALID_API_KEY" } as const;
const expired = { status: 401, code: "EXPIRED_API_KEY" } as const;
const noSuccess = { status: "no success" } as const;
/** Without a clock, a small key's requests are too dear. */
const dear = { reach: need("clock") };

/** What the document says of each kind of key. */
export const keyExpectations: Readonly<Record<RejectedKeyKind, Row>> = {
  "no key": row("AUTH-2", refused),
  "a wrong key": row("AUTH-3", wrong),
  "a key with another last character": row("AUTH-5", refused, dear),
  "a key that is cut off": row("AUTH-5", refused, dear),
  "a key that is lengthened": row("AUTH-5", refused, dear),
  "a key in other letter case": row("AUTH-5", refused, dear),
  "a key under another scheme": row("AUTH-6", noSuccess, dear),
  "a scheme without a key": row("AUTH-6", noSuccess, dear),
  "an expired key": row("AUTH-4", expired),
  "a temporary key after its life": row("KEY-3", expired),
  "a read-only key": row("KEY-5", noSuccess, { on: ["webhooks", "alerts"] }),
  // What names an agent in its path or body, and answers at once.
  "a key of another agent": row("KEY-6", noSuccess, { on: ["invoke", "stream", "health", "webhooks"] }),
  "a key of another address": row("KEY-7", noSuccess),
  // A refusal that is forgotten when the same is asked again is none.
  "a key of another address, for the second time": row("KEY-7", noSuccess, {
    on: ["health", "list", "usage", "keyUsage"],
  }),
};

/** The kinds that a clause speaks of. */
export const keyKindsOf = (clause: ClauseId): RejectedKeyKind[] =>
  (Object.keys(rejectedKeyKinds) as RejectedKeyKind[]).filter((kind) => keyExpectations[kind].clause === clause);

/** Requests with such keys, on every endpoint on which they are tried. */
export function keyMatrix(kinds: readonly RejectedKeyKind[]): CoverageMatrix {
  const asked = new Set(kinds.flatMap((kind) => keyExpectations[kind].on));
  const where = asked.size === endpointNames.length ? "every published endpoint" : [...asked].join(", ");
  return {
    description: `every request with ${joinWithOr(kinds)} to ${where}`,
    cells: kinds.flatMap((kind) =>
      keyExpectations[kind].on.map((endpoint): DocumentedCell => ({
        of: endpoint,
        kind,
        reach: needOf[endpoint] ?? keyExpectations[kind].reach,
      })),
    ),
    coverageProbe: null,
  };
}

/** What it takes to have something to ask an endpoint for. */
const needOf: Readonly<Partial<Record<EndpointName, Enabler>>> = {
  webhooks: need("receiver"),
  deliveries: need("receiver"),
  alerts: need("receiver"),
  operations: need("paths.start"),
  batch: need("paths.batch"),
};

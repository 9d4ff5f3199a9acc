import type { Exchange } from "../../evidence/exchange.ts";
import { fieldMismatch } from "../../rules/bodies/fields.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { Check, EvidenceOf, Probes } from "../../run/judge/check.ts";
import { checkEvery, type Member } from "../../run/judge/check-every.ts";
import { type Breach, breach, type Finding, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import type { FieldTableName } from "../../spec/fields.ts";
import { judgePresence } from "./cases.ts";
import { fieldMatrix } from "./matrices.ts";
import { hasStatus, outcomeOf } from "./response.ts";

/** Judges that a response has status 200. A 429 proves nothing. */
export function judgeOk(exchange: Exchange): { readonly kind: "holds" } | Breach | Unproven {
  if (hasStatus(exchange, 429)) return unproven("a limit refused the request (429)");
  return hasStatus(exchange, 200) ? holds() : breach("200", outcomeOf(exchange), exchange);
}

interface FieldCheckOptions<E, T, R extends string> {
  readonly table: FieldTableName;
  readonly members: (evidence: E) => readonly Member<T>[];
  readonly whenEmpty: Finding<R> | ((evidence: E) => Finding<R>);
  /** A further rule for each case whose fields match the table. */
  readonly judge?: (subject: T) => Mismatch | null;
  /** The field whose presence a reading describes. Default: the clause's first. */
  readonly presencePath?: string;
  readonly as?: string;
  readonly noun?: string;
}

/** Checks the fields that a clause requires, in every case of the run. */
export const checkFields = <
  const K extends JudgedId,
  const P extends Probe | Probes,
  T extends { readonly root: unknown },
>(
  clause: K,
  on: P,
  { table, judge, presencePath, ...options }: FieldCheckOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...options,
    matrix: fieldMatrix(table),
    judge: (subject: T) => {
      const mismatch = fieldMismatch(table, clause, subject.root);
      return mismatch === null && judge !== undefined ? judge(subject) : mismatch;
    },
    judgeAcross: (subjects: readonly T[]) =>
      judgePresence(
        table,
        clause,
        subjects.map(({ root }) => root),
        presencePath,
      ),
  });

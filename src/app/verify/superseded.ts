import { sanitizeLine } from "../../base/sanitize.ts";
import { countsIn, firstRequirements } from "../../spec/requirements.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";

/** Another statement that is known, and whether its signature counts as much as that of the statement that is verified. */
export interface KnownStatement {
  readonly file: string;
  readonly statement: Statement;
  readonly isTrusted: boolean;
}

/**
 * Lists the statements that supersede another one: newer, about the same deployment, and nonconformant by a requirement set that the other
 * one is judged by, too. A statement that cannot be trusted is listed as well, because a forger could have made it green.
 */
export function supersedingStatements(statement: Statement, known: readonly KnownStatement[]): string[] {
  return known.flatMap(({ file, statement: other, isTrusted }) => {
    const name = sanitizeLine(file, 120);
    if (!isTrusted)
      return [`${name}: its signature does not count, so nobody knows whether it supersedes the statement`];
    const isRed = other.verdict === "nonconformant" && countsIn(setOf(other), setOf(statement));
    if (!isRed || !isSameDeployment(statement, other) || Date.parse(other.finished) <= Date.parse(statement.finished))
      return [];
    return [`superseded: ${name} is newer, of ${other.finished.slice(0, 10)}, and nonconformant`];
  });
}

const setOf = ({ suite }: Statement): string => suite.requirements ?? firstRequirements;

const isSameDeployment = (one: Statement, other: Statement): boolean =>
  one.target.baseUrl === other.target.baseUrl && (one.party ?? "server") === (other.party ?? "server");

import { sanitizeLine } from "../../base/sanitize.ts";
import { countsIn, firstRequirements } from "../../spec/requirements.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";

/**
 * Another known statement, which may supersede the verified one. `isTrusted`: its signature is at least as good as that
 * of the verified one.
 */
export interface KnownStatement {
  readonly file: string;
  readonly statement: Statement;
  readonly isTrusted: boolean;
}

/**
 * Returns a line for each known statement that supersedes the given one: it is newer, about the same deployment, and
 * nonconformant by the same or an earlier requirement set. Also lists untrusted statements, because their verdict may
 * be forged.
 */
export function supersedingStatements(statement: Statement, known: readonly KnownStatement[]): string[] {
  return known.flatMap(({ file, statement: other, isTrusted }) => {
    const name = sanitizeLine(file, 120);
    if (!isTrusted)
      return [`${name}: its signature does not count, so nobody knows whether it supersedes the statement`];
    const isRed = other.verdict === "nonconformant" && countsIn(requirementSetOf(other), requirementSetOf(statement));
    if (!isRed || !isSameDeployment(statement, other) || Date.parse(other.finished) <= Date.parse(statement.finished))
      return [];
    return [`superseded: ${name} is newer, of ${other.finished.slice(0, 10)}, and nonconformant`];
  });
}

const requirementSetOf = ({ suite }: Statement): string => suite.requirements ?? firstRequirements;

export const isSameDeployment = (one: Statement, other: Statement): boolean =>
  one.target.baseUrl === other.target.baseUrl && (one.party ?? "server") === (other.party ?? "server");

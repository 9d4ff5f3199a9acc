import { exempt } from "../judge/finding.ts";
import type { Check, Suite } from "../judge/check.ts";
import type { Target } from "../../target/target.ts";

/** Whether a clause is about keys, so that it does not concern a server without any. */
export const isAboutKeys = (clause: string): boolean => /^(AUTH|KEY)-/.test(clause) || others.includes(clause);

/** Clauses of other sections: a key on every request, headers of a 401, and which key a request counts for. */
const others: readonly string[] = ["REQ-2", "HDR-3", "LIM-9", "LIM-23", "LIM-25"];

const reason = "the target file says `auth: none`: the server asks for no keys";

/** Exempts the clauses about keys, if the server asks for none. Their probes are not needed. */
export const suitesFor = (suites: readonly Suite[], { auth }: Pick<Target, "auth">): readonly Suite[] =>
  auth === "keys" ? suites : suites.map((suite) => ({ ...suite, checks: suite.checks.map(exempted) }));

function exempted(check: Check): Check {
  if (!isAboutKeys(check.clause)) return check;
  const { id, clause, since } = check;
  return { id, clause, since, on: {}, matrix: null, also: [], judge: () => exempt(reason) };
}

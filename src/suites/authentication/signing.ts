import { check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, observed, unproven } from "../../run/judge/finding.ts";
import { describeStatus, describeVerdict, isInconclusive, isSuccess, outcomeOf } from "../shared/response.ts";
import { signedBadly, signedValidly, type SignedValidly } from "./signing-probes.ts";

/** Judges a GET with a query string: the signed path may include the query string or not. */
function judgeQuery({ control, withQuery, withoutQuery }: SignedValidly): Finding<"path-only" | "path-and-query"> {
  if (!isSuccess(control))
    return unproven(`the same request without a signature did not succeed (${outcomeOf(control)})`);
  const [full, bare] = [isSuccess(withQuery), isSuccess(withoutQuery)];
  if (full && bare) return holds();
  if (full) return follows("path-and-query");
  if (bare) return follows("path-only");
  if (isInconclusive(withQuery) || isInconclusive(withoutQuery))
    return unproven(
      `the signed requests got no conclusive response (${outcomeOf(withQuery)}, ${outcomeOf(withoutQuery)})`,
    );
  return breach(
    "a signed request is accepted, its path signed with or without the query string",
    `${describeVerdict(withQuery)} with it, ${describeVerdict(withoutQuery)} without`,
    withQuery,
    withoutQuery,
    control,
  );
}

function judgePost({ posted, postedPlainly }: SignedValidly): Finding<never> {
  if (posted === null) return unproven("no agent is known", "`agents.answering` in the target file");
  if (isSuccess(posted)) return holds();
  if (postedPlainly === null || !isSuccess(postedPlainly) || isInconclusive(posted))
    return unproven(
      `the same request without a signature did not succeed either (${outcomeOf(postedPlainly ?? posted)})`,
    );
  return breach(
    "a signed request with a body that is not ASCII is accepted",
    describeStatus(posted),
    posted,
    postedPlainly,
  );
}

export const signingChecks = [
  check("AUTH-10", signedValidly, judgeQuery, { as: "query" }),
  check("AUTH-10", signedValidly, judgePost, { as: "body" }),
  observe("AUTH-11", signedBadly, ({ control, asked, unsigned }) => {
    if (!isSuccess(control))
      return unproven(`the same request without a signature did not succeed (${outcomeOf(control)})`);
    const rows = Object.entries(asked).filter(([, exchange]) => !isInconclusive(exchange));
    if (rows.length === 0) return unproven("no badly signed request got a conclusive response");
    const without =
      unsigned === null
        ? "no key requires a signature"
        : `no signature, although the key requires one: ${describeVerdict(unsigned)}`;
    return observed(
      `${without}; ${rows.map(([mistake, exchange]) => `${mistake}: ${describeVerdict(exchange)}`).join("; ")}`,
    );
  }),
];

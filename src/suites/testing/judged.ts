import { isObject } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, probesOf, type Suite } from "../../run/judge/check.ts";
import { isExchange } from "../../run/judge/judge-evidence.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import type { Finding, Observation } from "../../run/judge/finding.ts";

/** Judges test evidence by a check. Returns the reading that it follows, or the kind of the finding. */
export function judged(suite: Suite, id: string, evidence: unknown): string {
  const check = checkOf(suite, id);
  const given = check.matrix === null ? evidence : withEverything(check, evidence);
  const finding = check.judge(given as never);
  return finding.kind === "follows" ? finding.reading : finding.kind;
}

function checkOf({ checks, title }: Suite, id: string): Check {
  const found = checks.find((check) => check.id === id);
  if (found === undefined) throw new Error(`the suite "${title}" has no check ${id}`);
  return found;
}

/** Adds `all`, the exchanges of the evidence, if the check also reads those of the whole run. */
function withEverything(check: Check, evidence: unknown): unknown {
  const all = { exchanges: exchangesIn(evidence), validKeys: ["main"] };
  return Object.fromEntries(
    Object.entries(probesOf(check.on)).map(([name, probe]) => [
      name,
      isObject(evidence) && name in evidence ? evidence[name] : probe === allExchanges ? all : evidence,
    ]),
  );
}

function exchangesIn(value: unknown): Exchange[] {
  if (typeof value !== "object" || value === null) return [];
  return isExchange(value) ? [value] : Object.values(value).flatMap(exchangesIn);
}

/** Judges test evidence by the check of a suite that has this id. Throws if there is no such check. */
export const judgeBy = (suite: Suite, id: string, evidence: unknown): Finding | Observation =>
  checkOf(suite, id).judge(evidence as never);

import { setTimeout as sleep } from "node:timers/promises";

import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { slotReleaseMs } from "../../rules/limits/key-history.ts";
import { needsTokensPerMonth, refusedForTokens, tokensExplain } from "../../rules/limits/month-tokens.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { tiersUnderTest } from "../../run/plan/needs.ts";
import { fallBetween, isSameWindow } from "../shared/compare-samples.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { helloBody, unpaced } from "./exhaust.ts";
import { judgeKeyHistory, keyHistoryOf, type RunKeyHistory } from "./key-history.ts";
import { type LimitsProbeContext, useExpiryMs } from "./timed-retry.ts";

/** Result of invokes with a second key of the tier while the first key was refused. */
export type SiblingKeyResult =
  // The tier has no second key. `isElsewhere`: whether another tier has a second key.
  | { readonly kind: "none"; readonly isElsewhere: boolean }
  // No request was sent, because the target never refused the first key.
  | { readonly kind: "not asked" }
  | {
      readonly kind: "asked";
      /** An invoke with the second key, sent before the first key's limit was used up. `null` if none was sent. */
      readonly before: Exchange | null;
      readonly after: Exchange;
      readonly again: Exchange | null;
      readonly use: RunKeyHistory;
    };

export async function sendSiblingControl({
  client,
  given,
  tested: { siblingKey },
  target,
}: LimitsProbeContext): Promise<Exchange | null> {
  if (siblingKey === null || siblingKey.fresh || target.clock !== null) return null;
  return client.as(siblingKey).invoke(given["agents.answering"], helloBody, unpaced);
}

type SiblingInvokes =
  | Exclude<SiblingKeyResult, { kind: "asked" }>
  | { readonly before: Exchange | null; readonly after: Exchange };

export async function invokeSibling(
  { client, given, tested: { siblingKey }, target }: LimitsProbeContext,
  refused: readonly Exchange[],
  before: Exchange | null,
): Promise<SiblingInvokes> {
  if (siblingKey === null)
    return { kind: "none", isElsewhere: tiersUnderTest(target).some((each) => each.siblingKey !== null) };
  if (!refused.some((each) => statusOf(each) === 429)) return { kind: "not asked" };
  const invoke = (): Promise<Exchange> => client.as(siblingKey).invoke(given["agents.answering"], helloBody, unpaced);
  const first = await invoke();
  if (statusOf(first) !== 429) return { before, after: first };
  // The server may have refused the invoke only because it frees concurrency slots late. Therefore the probe invokes
  // once more.
  await sleep(slotReleaseMs + 100);
  return { before, after: await invoke() };
}

/**
 * If the sibling key got a 429, invokes with it again and adds the response, `again`, to the result. A success shows
 * that the key had monthly tokens left at the 429.
 */
export async function invokeSiblingAgain(
  { client, given, tested: { siblingKey, limits }, target, recorder, discovery, time }: LimitsProbeContext,
  used: SiblingInvokes,
  idleSinceMs: number | null,
): Promise<SiblingKeyResult> {
  if ("kind" in used) return used;
  if (siblingKey === null) return { kind: "not asked" };
  const isRefused = statusOf(used.after) === 429;
  // A limit that both keys wrongly share stays used up until the earlier requests expire.
  if (isRefused && time.canAdvance) await time.passTime(useExpiryMs, "use that both keys may share must expire");
  const again = isRefused ? await client.as(siblingKey).invoke(given["agents.answering"], helloBody, unpaced) : null;
  const use = keyHistoryOf(siblingKey, limits, { target, recorder, discovery, idleSinceMs });
  return { kind: "asked", ...used, again, use };
}

/** Judges LIM-9: the target admits one key while the limit of another key is used up. */
export function judgeSibling(sibling: SiblingKeyResult): Finding<never> {
  if (sibling.kind === "none")
    return sibling.isElsewhere
      ? inapplicable("another tier has two keys")
      : unproven("no tier has two keys", "two keys of one tier in the target file");
  if (sibling.kind === "not asked") return unproven("the first key was never refused");
  const { before, after, use } = sibling;
  const expected = "a key is admitted while another key of its tier is exhausted";
  const fall = before === null ? null : fallBetween(sampleOf(before), sampleOf(after));
  if (isSuccess(after)) {
    if (before === null || fall === null || fall.fell <= 1) return holds();
    return breach(
      expected,
      `\`Remaining\` of the other key fell by ${fall.fell} with one request of its own`,
      before,
      after,
    );
  }
  if (!hasStatus(after, 429)) return unproven(`the request of the other key got ${outcomeOf(after)}`);
  if (refusedForTokens(use.samples, use.limits).has(after.id)) return unproven(tokensExplain, needsTokensPerMonth);
  const judged = judgeKeyHistory(use);
  if (judged.kind === "breach" && judged.breach !== "too many admitted")
    return breach(expected, "429, which no use of its own explains", after);
  if (before !== null && hadAllowance(before, after))
    return breach(expected, `429, right after \`Remaining: ${sampleOf(before).remaining}\``, before, after);
  return unproven("earlier use of the other key may explain its refusal", 'keys with `"fresh": true`');
}

function hadAllowance(before: Exchange, after: Exchange): boolean {
  const [from, to] = [sampleOf(before), sampleOf(after)];
  return isSuccess(before) && isSameWindow(from, to) && (from.remaining ?? 0) >= 2;
}

import type { TierLimits } from "../../spec/tiers.ts";
import { waitsForMonth } from "./header-rules.ts";
import { isAdmitted, isAgentCall, isRefused, type RequestSample } from "./sample.ts";

/** Whether a refusal asks to wait for tokens of the next month, by a key whose number of tokens is not known. */
export const asksForTokens = (sample: RequestSample, { tokensPerMonth }: TierLimits): boolean =>
  tokensPerMonth === null && isRefused(sample) && waitsForMonth(sample);

type TokenSample = RequestSample & { readonly tokensSpent?: true };

/**
 * Returns the ids of refusals that the month's tokens explain, for a key whose number of tokens is not known. Either
 * the refusal asks to wait for them, or a usage report shows that none are left, with no agent called in between.
 */
export function refusedForTokens(samples: readonly TokenSample[], limits: TierLimits): ReadonlySet<string> {
  const found = new Set<string>();
  if (limits.tokensPerMonth !== null) return found;
  let refused: string[] = [];
  let isSpent = false;
  const closeStretch = (): void => {
    if (isSpent) for (const id of refused) found.add(id);
    refused = [];
    isSpent = false;
  };
  for (const each of samples.toSorted((a, b) => a.sentMs - b.sentMs)) {
    if (isAgentCall(each) && isAdmitted(each)) closeStretch();
    isSpent ||= each.tokensSpent === true;
    if (asksForTokens(each, limits)) found.add(each.id);
    else if (isRefused(each)) refused.push(each.id);
  }
  closeStretch();
  return found;
}

/** Why a refusal proves nothing if the month's tokens may explain it. */
export const tokensExplain = "the month's tokens may be used up, which explains a refusal";

export const needsTokensPerMonth = "`tokensPerMonth` of that tier under `tiers` in the target file";

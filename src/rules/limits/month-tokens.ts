import type { TierLimits } from "../../spec/tiers.ts";
import { announcesWaitOverHour } from "./header-rules.ts";
import { isAdmitted, isAgentCall, isRefused, type RequestSample } from "./sample.ts";

/** Whether a response is a 429 that announces a wait of over an hour, on a tier with an unknown monthly token limit. */
export const tokensMayExplain = (sample: RequestSample, { tokensPerMonth }: TierLimits): boolean =>
  tokensPerMonth === null && isRefused(sample) && announcesWaitOverHour(sample);

type TokenSample = RequestSample & { readonly tokensSpent?: true };

/**
 * Returns the ids of 429 responses that used-up monthly tokens can explain: the wait is over an hour, or a usage report
 * shows no tokens left, with no agent call admitted between the two.
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
    if (tokensMayExplain(each, limits)) found.add(each.id);
    else if (isRefused(each)) refused.push(each.id);
  }
  closeStretch();
  return found;
}

/** Skip reason for a check of a 429 that used-up monthly tokens can explain. */
export const tokensExplain = "the month's tokens may be used up, which explains a refusal";

export const needsTokensPerMonth = "`tokensPerMonth` of that tier under `tiers` in the target file";

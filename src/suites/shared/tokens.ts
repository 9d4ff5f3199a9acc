import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { tokensOf, tokensOfDone } from "../../rules/streams/sequence.ts";

/** Tokens that an answer or the end of a stream tells; `null` where it does not. */
export function reportedTokens(exchange: Exchange): number | null {
  const { answer } = exchange;
  return answer.kind === "answered" && answer.events.length > 0
    ? tokensOfDone(answer.events)
    : tokensOf(bodyJson(exchange));
}

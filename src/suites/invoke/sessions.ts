import { formatValue, getPath } from "../../base/json.ts";
import { bodyJson, bodyText, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import type { CombinedResult } from "../shared/acceptance.ts";
import { invoked, invokedAtMin, sessionHeld } from "./probes.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";

export const isSessionRequired = (plain: Exchange, tried: CombinedResult<"session">): boolean =>
  hasStatus(plain, 400, 422) && isSuccess(tried.together);

export const repeatsAnyWord = (exchange: Exchange, ...words: readonly string[]): boolean =>
  words.some((each) => normalizedText(exchange).includes(each));

/** Returns the body as text. Serializes a JSON body again, which removes unneeded escapes, e.g. of `\u0061`. */
function normalizedText(exchange: Exchange): string {
  const json = bodyJson(exchange);
  return json === undefined ? (bodyText(exchange) ?? "") : JSON.stringify(json);
}

const repeatedElsewhere = "the agent repeats the word in another session too";

const resultOf = (exchange: Exchange): string => `no such word: ${formatValue(getPath(bodyJson(exchange), "result"))}`;

export const sessionChecks: readonly Check[] = [
  check(
    "INV-17",
    { plain: invoked, tried: invokedAtMin },
    ({ plain: { exchange }, tried }) => {
      if (isSuccess(exchange)) return holds();
      return isSessionRequired(exchange, tried)
        ? breach("accepted without `session_id`, as it is with one", describeStatus(exchange), exchange, tried.together)
        : unproven(`a request without \`session_id\` did not succeed (${outcomeOf(exchange)})`);
    },
    { as: "optional" },
  ),
  check("INV-18", sessionHeld, ({ word, marker, told, asked, again, elsewhere }) => {
    const failed = [told, asked, again, elsewhere].find((each) => !isSuccess(each));
    if (failed !== undefined) return unproven(`an invoke in the session did not succeed (${outcomeOf(failed)})`);
    if (getPath(bodyJson(asked), "result") === undefined) return unproven("the second response has no `result`");
    if (repeatsAnyWord(elsewhere, word)) return unproven(repeatedElsewhere);
    const forgotten = (words: string, exchange: Exchange): Finding<never> =>
      breach(`${words} in the response`, resultOf(exchange), told, asked, exchange);
    if (!repeatsAnyWord(asked, word)) return forgotten(`the word of the session's first call, ${word},`, asked);
    // The first call contains `word`, the second `marker`. Either is enough: some agents remember only the latest call.
    return repeatsAnyWord(again, word, marker)
      ? holds()
      : forgotten(`a word of the session's first two calls, ${word} or ${marker},`, again);
  }),
  check(
    "INV-18",
    sessionHeld,
    ({ word, elsewhere, acrossStream }) => {
      if (acrossStream === null) return inapplicableForFewRequests;
      const { said, invokedBefore, stream, invokedAfter } = acrossStream;
      if (hasStatus(stream, 400, 404)) return inapplicable(`the agent does not stream (${outcomeOf(stream)})`);
      const failed = [invokedBefore, stream, invokedAfter, elsewhere].find((each) => !isSuccess(each));
      if (failed !== undefined) return unproven(`a call of the session did not succeed (${outcomeOf(failed)})`);
      if (repeatsAnyWord(elsewhere, word)) return unproven(repeatedElsewhere);
      // Does not judge an agent that forgot the session already before the stream. `INV-18` and `INV-18/after a refused
      // call` judge that mistake.
      if (!repeatsAnyWord(invokedBefore, ...said.slice(0, 3)))
        return unproven("the session's fourth invoke repeats no word of it");
      return repeatsAnyWord(invokedAfter, ...said)
        ? holds()
        : breach(
            "a word of the session in the invoke after a stream, as in the invoke before",
            resultOf(invokedAfter),
            invokedBefore,
            stream,
            invokedAfter,
          );
    },
    { as: "after a stream" },
  ),
  check(
    "INV-18",
    sessionHeld,
    ({ word, marker, again, elsewhere, withoutQuery, acrossStream }) => {
      if (withoutQuery === null || acrossStream === null) return inapplicableForFewRequests;
      const { said, invokedBefore: next } = acrossStream;
      if (!hasStatus(withoutQuery, 400)) return unproven(`an invoke without \`query\` got ${outcomeOf(withoutQuery)}`);
      const failed = [again, elsewhere, next].find((each) => !isSuccess(each));
      if (failed !== undefined) return unproven(`a call of the session did not succeed (${outcomeOf(failed)})`);
      if (repeatsAnyWord(elsewhere, word)) return unproven(repeatedElsewhere);
      if (!repeatsAnyWord(again, word, marker)) return unproven("the session's third call repeats no word of it");
      return repeatsAnyWord(next, ...said.slice(0, 3))
        ? holds()
        : breach(
            "a word of the session in the call after a refused one, as in the call before",
            resultOf(next),
            again,
            withoutQuery,
            next,
          );
    },
    { as: "after a refused call", since: "1.2" },
  ),
];

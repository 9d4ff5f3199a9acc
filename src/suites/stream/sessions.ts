import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { check } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { isStreamAccepted, isWellNamed, readEvents, textOf } from "./events.ts";
import { everyStream, streamedWithAllFeatures, streamSessionHeld } from "./probes.ts";

/** `session_id` of a request; `undefined` if absent. */
function sessionAsked({ request }: Exchange): string | undefined {
  const session = getPath(sentJson(request), "session_id");
  return typeof session === "string" ? session : undefined;
}

/** Checks of sessions in streams. */
export const sessionChecks = [
  checkEvery(
    "SSE-35",
    { asked: streamedWithAllFeatures, all: everyStream },
    {
      matrix: fieldMatrix("start"),
      noun: "events",
      members: ({ all }) =>
        all.streams.filter(isWellNamed).flatMap((exchange) =>
          readEvents(exchange, "start").map(({ data }) => ({
            cell: { of: "stream events", kind: "start" },
            proof: exchange,
            subject: { asked: sessionAsked(exchange), told: data["session_id"] },
          })),
        ),
      judge: ({ asked, told }) => {
        if (asked === undefined || typeof told !== "string") return undefined;
        return told === asked
          ? null
          : { expected: `\`session_id\` ${formatValue(asked)}, as asked`, actual: formatValue(told) };
      },
      whenEmpty: unproven("no stream was asked for in a session and named one in its `start`"),
    },
  ),
  check("SSE-36", streamSessionHeld, ({ word, told, asked, elsewhere }) => {
    const failed = [told, asked, elsewhere].find((each) => !isStreamAccepted(each));
    if (failed !== undefined) return unproven(`a stream of the session did not succeed (${outcomeOf(failed)})`);
    if (textOf(asked) === "") return unproven("no text can be read in the session's second stream");
    const isShown = (exchange: Exchange): boolean => textOf(exchange).includes(word);
    if (isShown(elsewhere)) return unproven("the agent shows the word in a session that never heard it, too");
    if (isShown(asked)) return holds();
    const expected = `the word of the session's first stream, ${word}, shows in its second`;
    return breach(expected, `it does not: ${formatValue(textOf(asked))}`, told, asked);
  }),
] as const;

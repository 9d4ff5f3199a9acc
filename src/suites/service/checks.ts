import { bodyText, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { statusCodes } from "../../interface/errors.ts";
import { check, suite } from "../../run/check.ts";
import { breach, holds, unproven } from "../../run/finding.ts";
import { universal } from "../../run/universal.ts";
import { membersOf } from "../answers/field-checks.ts";
import { answersUniverse, cellsWith } from "../answers/universes.ts";
import { boundIn, endpointOf, everything, mediaTypeOf } from "../answers/recorded.ts";
import { invokedOddly, lookedAt } from "../requests/probes.ts";
import { judgeSpelling } from "../requests/checks.ts";
import { hasStatus, isSuccess, notJson, outcomeOf, show } from "../answers/shape.ts";
import { streamed } from "../stream/probes.ts";

const isDocumented = (exchange: Exchange): boolean => statusCodes.some((status) => status === statusOf(exchange));

/** A body that came whole, and can be judged: not cut by us, by a deadline or for its length. */
function hasWholeBody({ answer }: Exchange): boolean {
  return (
    answer.kind === "answered" &&
    answer.ending.kind === "complete" &&
    (answer.body.kind === "text" || answer.body.kind === "base64")
  );
}

const isOpenedStream = (exchange: Exchange): boolean => endpointOf(exchange) === "stream" && isSuccess(exchange);

/** Declared as an event stream, and, where a body came whole, written as one. */
const isEventStream = (exchange: Exchange): boolean =>
  mediaTypeOf(exchange) === "text/event-stream" &&
  exchange.answer.kind === "answered" &&
  (exchange.answer.events.length > 0 || !hasWholeBody(exchange));

export const service = suite("What the service does", [
  universal(
    "SVC-1",
    { all: everything, lookedAt },
    {
      as: "answers",
      universe: answersUniverse(
        "every answer of every published endpoint that has a body, with a status of the document",
        cellsWith(statusCodes),
      ),
      members: ({ all }) =>
        membersOf(
          boundIn(all).filter((each) => isDocumented(each) && hasWholeBody(each) && !isOpenedStream(each)),
          all,
        ),
      say: (exchange) => {
        const other = notJson(exchange);
        return other === null ? null : { expected: "a JSON body", actual: `${outcomeOf(exchange)} with ${other}` };
      },
      none: unproven("no answer had a body that came whole"),
    },
  ),
  check(
    "SVC-1",
    invokedOddly,
    (evidence) =>
      judgeSpelling(evidence, "gzip", "a body that can be read where the client offers gzip, as without the offer"),
    { as: "gzip" },
  ),
  universal(
    "SVC-2",
    { all: everything, streamed },
    {
      universe: answersUniverse("every answer 200 of stream", cellsWith([200], ["stream"])),
      members: ({ all }) =>
        membersOf(
          all.exchanges.filter((each) => endpointOf(each) === "stream" && hasStatus(each, 200)),
          all,
        ),
      say: (exchange) =>
        isEventStream(exchange)
          ? null
          : {
              expected: "an event stream: `text/event-stream` with `event:` and `data:` lines",
              actual: `${mediaTypeOf(exchange) ?? "no media type"} with ${show((bodyText(exchange) ?? "").slice(0, 100))}`,
            },
      none: unproven("no stream was opened", "`agents.streaming` in the target file"),
    },
  ),
  check("SVC-3", lookedAt, ({ listing, usage }) => {
    const absent = [listing, usage].find((each) => hasStatus(each, 404, 405));
    if (absent !== undefined) {
      const path = absent.request.url.replace(/^[^:]*:\/\/[^/]*/, "");
      return breach(`${absent.request.method} ${path} is there`, outcomeOf(absent), absent);
    }
    return [listing, usage].some(isSuccess) ? holds() : unproven("neither list nor usage succeeded below `/v1`");
  }),
]);

import { bodyText, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { statusCodes } from "../../spec/events-and-errors.ts";
import { check, checkEvery, suite } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import { responseCases, responseMatrix, responseCells } from "../shared/cases.ts";
import { specifiedExchanges, endpointOf, allExchanges, mediaTypeOf } from "../shared/all-exchanges.ts";
import { invokedInOtherSpellings, discoveryReads } from "../requests/probes.ts";
import { hasFieldsOf, judgeSpelling } from "../requests/checks.ts";
import { hasStatus, isSuccess, describeNonJson, outcomeOf, isComplete } from "../shared/response.ts";
import { formatValue } from "../../base/json.ts";
import { streamed } from "../stream/probes.ts";

const isDocumented = (exchange: Exchange): boolean => statusCodes.some((status) => status === statusOf(exchange));

const hasWholeBody = (exchange: Exchange): boolean =>
  isComplete(exchange) &&
  exchange.answer.kind === "answered" &&
  (exchange.answer.body.kind === "text" || exchange.answer.body.kind === "base64");

const isOpenedStream = (exchange: Exchange): boolean => endpointOf(exchange) === "stream" && isSuccess(exchange);

const isEventStream = (exchange: Exchange): boolean =>
  mediaTypeOf(exchange) === "text/event-stream" &&
  exchange.answer.kind === "answered" &&
  (exchange.answer.events.length > 0 || !hasWholeBody(exchange));

/** Whether the response is a list or a usage report. A 200 alone proves nothing: web sites may send it for any path. */
const isListOrUsage = (exchange: Exchange): boolean =>
  isSuccess(exchange) && (["list", "usage"] as const).some((endpoint) => hasFieldsOf(endpoint, exchange));

export const service = suite("What the service does", [
  checkEvery(
    "SVC-1",
    { all: allExchanges, lookedAt: discoveryReads },
    {
      as: "answers",
      matrix: responseMatrix(
        "every response of every published endpoint with a body and a status of the document",
        responseCells(statusCodes),
      ),
      members: ({ all }) =>
        responseCases(
          all,
          specifiedExchanges(all),
          (each) => isDocumented(each) && hasWholeBody(each) && !isOpenedStream(each),
        ),
      judge: (exchange) => {
        const other = describeNonJson(exchange);
        return other === null ? null : { expected: "a JSON body", actual: `${outcomeOf(exchange)} with ${other}` };
      },
      whenEmpty: unproven("no response has a complete body"),
    },
  ),
  check(
    "SVC-1",
    invokedInOtherSpellings,
    (evidence) =>
      judgeSpelling(evidence, "gzip", "a body that can be read where the client offers gzip, as without the offer"),
    { as: "gzip" },
  ),
  checkEvery(
    "SVC-2",
    { all: allExchanges, streamed },
    {
      matrix: responseMatrix("every response 200 of stream", responseCells([200], ["stream"])),
      members: ({ all }) =>
        responseCases(all, all.exchanges, (each) => endpointOf(each) === "stream" && hasStatus(each, 200)),
      judge: (exchange) =>
        isEventStream(exchange)
          ? null
          : {
              expected: "an event stream: `text/event-stream` with `event:` and `data:` lines",
              actual: `${mediaTypeOf(exchange) ?? "no media type"} with ${formatValue((bodyText(exchange) ?? "").slice(0, 100))}`,
            },
      whenEmpty: unproven("no stream was opened", "`agents.streaming` in the target file"),
    },
  ),
  check("SVC-3", discoveryReads, ({ listing, usage, elsewhere = [] }) => {
    const found = elsewhere.find(isListOrUsage);
    const pathOf = ({ request }: Exchange): string => new URL(request.url).pathname;
    const absent = [listing, usage].find(
      (each) => found !== undefined && pathOf(found).endsWith(pathOf(each).replace(/^.*\/v1\//, "/")),
    );
    if (found !== undefined && absent !== undefined)
      return breach(
        `GET ${pathOf(absent)} is there`,
        `${outcomeOf(absent)}, while GET ${pathOf(found)} gets ${outcomeOf(found)}`,
        absent,
        found,
      );
    return [listing, usage].some(isSuccess) ? holds() : unproven("neither list nor usage succeeded below `/v1`");
  }),
]);

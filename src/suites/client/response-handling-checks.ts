import { getPath } from "../../base/json.ts";
import { is2xx } from "../../base/http.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { type CommandEnd, requestTarget } from "../../evidence/client-call.ts";
import { check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, holds, type Observation, observed, unproven } from "../../run/judge/finding.ts";
import { endpointOfRequest } from "../../spec/endpoints.ts";
import { isTerminal } from "../stream/events.ts";
import {
  endMsOf,
  failureOf,
  groupEqualRequests,
  type JudgedRun,
  plainAndTroubled,
  type PlainAndTroubledRuns,
  type SignedCall,
} from "./probes.ts";

/**
 * A stream counts as left open if the client sends another request after `done`, gets its response, and closes the
 * stream more than this time after sending the request.
 */
const closingMs = 250;
/** A stream also counts as left open if the client completes this many requests between `done` and closing it. */
const minLaterCalls = 3;

const isConcurrent = ({ calls }: JudgedRun): boolean =>
  calls.some((call, at) => calls.slice(at + 1, at + 20).some(({ exchange }) => exchange.sentMs < endMsOf(call)));

function judgeStreamsClosed({ plain, troubled }: PlainAndTroubledRuns): Finding<never> {
  const held = troubled.runs.flatMap((run) =>
    run.calls.filter(({ trouble }) => trouble === "stream-open").map((call) => ({ run, call })),
  );
  if (held.length === 0) return unproven("the client read no stream that stays open after `done`");
  if (plain.runs.some(isConcurrent)) return unproven("the client has several requests open at once");
  const left = held.filter(({ run, call }) => isLeftOpen(run, call));
  if (left.length === 0) return holds();
  return breach(
    "a stream is closed after `done`, or read to its end, before the client goes on",
    "the client sent other requests, and left the stream open",
    ...left.map(({ call }) => call.exchange),
  );
}

function isLeftOpen({ calls }: JudgedRun, call: SignedCall): boolean {
  const { answer } = call.exchange;
  const doneMs = answer.kind === "answered" ? answer.events.find(isTerminal)?.atMs : undefined;
  if (doneMs === undefined) return false;
  const closedMs = call.leftMs ?? endMsOf(call);
  const later = calls.filter((each) => each.exchange.sentMs > doneMs && endMsOf(each) < closedMs);
  return later.length >= minLaterCalls || later.some(({ exchange }) => exchange.sentMs < closedMs - closingMs);
}

interface ListRead {
  readonly pages: ReadonlySet<number>;
  readonly count: number;
  readonly calls: readonly SignedCall[];
}

function listReadsIn({ calls }: JudgedRun): Map<string, ListRead> {
  const lists = calls.filter(
    ({ exchange: { request, answer } }) =>
      endpointOfRequest(request.method, request.url)?.endpoint === "list" &&
      answer.kind === "answered" &&
      is2xx(answer.status),
  );
  return new Map([...Map.groupBy(lists, listKeyOf)].map(([key, ofList]) => [key, toListRead(ofList)]));
}

const parametersOf = ({ exchange: { request } }: SignedCall): URLSearchParams =>
  new URLSearchParams(requestTarget(request).split("?")[1] ?? "");

function listKeyOf(call: SignedCall): string {
  const parameters = parametersOf(call);
  parameters.delete("page");
  parameters.delete("limit");
  return `${requestTarget(call.exchange.request).split("?")[0]} ${parameters.toString()}`;
}

function toListRead(calls: readonly SignedCall[]): ListRead {
  const counts = calls.map(({ exchange }) => getPath(bodyJson(exchange), "pagination", "pages"));
  return {
    pages: new Set(calls.map((call) => Number(parametersOf(call).get("page") ?? 1))),
    count: Math.max(0, ...counts.filter((each) => typeof each === "number")),
    calls,
  };
}

const isComplete = ({ pages, count }: ListRead): boolean =>
  Array.from({ length: count }, (_, at) => at + 1).every((page) => pages.has(page));

function judgeEveryPageRead({ plain, troubled }: PlainAndTroubledRuns): Finding<never> {
  const whole = plain.runs.flatMap((run) => [...listReadsIn(run)].filter(([, reading]) => isComplete(reading)));
  const known = new Set(whole.map(([key]) => key));
  const small = troubled.runs
    .filter(({ calls, end }) => hasEndedWell(end) && calls.some(({ trouble }) => trouble === "small-pages"))
    .flatMap((run) => [...listReadsIn(run)])
    .filter(([key, { count }]) => known.has(key) && count > 1);
  if (small.length === 0) return unproven("the client read no whole list in small pages");
  const partial = small.filter(([, reading]) => !isComplete(reading));
  const [first] = partial;
  if (first === undefined) return holds();
  const [, { pages, count, calls }] = first;
  return breach(
    `every page is read: ${count}, as \`pages\` says`,
    `read ${[...pages].map((page) => `page ${page}`).join(", ")}`,
    ...calls.map(({ exchange }) => exchange),
  );
}

const hasEndedWell = (end: CommandEnd): boolean => end.kind === "exited" && end.code === 0;

function describeEnd(end: CommandEnd): string {
  switch (end.kind) {
    case "exited":
      return `exit code ${end.code}`;
    case "killed":
      return `ended by ${end.signal}`;
    case "timed out":
      return "did not end in time";
    case "interrupted":
      return "interrupted";
  }
}

const observeCommandEnds =
  (stage: JudgedRun["stage"]) =>
  ({ troubled }: PlainAndTroubledRuns): Observation => {
    const runs = troubled.runs.filter((run) => run.stage === stage);
    if (runs.length === 0) return unproven("no such response fits the requests of the client");
    return observed(runs.map((run) => `${troublesOf(run).join(", ")}: ${describeEnd(run.end)}`).join("; "));
  };

const troublesOf = ({ calls }: JudgedRun): string[] => [
  ...new Set(calls.flatMap(({ trouble }) => (trouble === null ? [] : [trouble]))),
];

function observeCutStreams({ plain, troubled }: PlainAndTroubledRuns): Observation {
  const cut = groupEqualRequests(plain.runs, troubled.runs).filter(({ calls }) =>
    calls.some((call) => failureOf(call)?.kind === "stream cut"),
  );
  if (cut.length === 0) return unproven("the client read no stream without its end");
  return observed(
    cut
      .map(({ repeats, run }) => `${repeats > 0 ? "sent again" : "not sent again"}; ${describeEnd(run.end)}`)
      .join("; "),
  );
}

export const responseHandlingChecks = [
  check("CLI-18", plainAndTroubled, judgeStreamsClosed),
  check("CLI-19", plainAndTroubled, judgeEveryPageRead),
  observe("CLI-20", plainAndTroubled, observeCommandEnds("legal")),
  observe("CLI-21", plainAndTroubled, observeCommandEnds("failing")),
  observe("CLI-22", plainAndTroubled, observeCutStreams),
];

import { getPath } from "../../base/json.ts";
import { is2xx } from "../../base/http-status.ts";
import { type CommandEnd, targetOf } from "../../evidence/client-call.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, holds, type Observation, observed, unproven } from "../../run/judge/finding.ts";
import { endpointCalled } from "../../spec/endpoints.ts";
import { endOf, failureOf, isEnd } from "./failures.ts";
import type { SignedCall, JudgedRun } from "./probes.ts";
import { groupsOf } from "./repeats.ts";
import { both, type Both } from "./retry-checks.ts";

/**
 * A client has forgotten an open stream if it gets `minLaterCalls` responses while the stream is open, or sends a
 * request more than `closingMs` before it closes the stream.
 */
const closingMs = 250;
const minLaterCalls = 3;

/** Whether the client ever has two requests open at once. Then an open stream may belong to another task. */
const isConcurrent = ({ calls }: JudgedRun): boolean =>
  calls.some((call, at) => calls.slice(at + 1, at + 20).some(({ exchange }) => exchange.sentMs < endOf(call)));

/**
 * Judges streams that sent their last event and stayed open, until the client disconnected or the harness ended them.
 */
function leavesNoneOpen({ plain, troubled }: Both): Finding<never> {
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
  const doneMs = answer.kind === "answered" ? answer.events.find(isEnd)?.atMs : undefined;
  if (doneMs === undefined) return false;
  const closedMs = call.leftMs ?? endOf(call);
  const later = calls.filter((each) => each.exchange.sentMs > doneMs && endOf(each) < closedMs);
  return later.length >= minLaterCalls || later.some(({ exchange }) => exchange.sentMs < closedMs - closingMs);
}

/** The pages of one list that a client read, and the number of pages that the list has. */
interface Reading {
  readonly pages: ReadonlySet<number>;
  readonly count: number;
  readonly calls: readonly SignedCall[];
}

/** Returns the lists that a run read. The key is the path and every parameter except those of pages. */
function readingsOf({ calls }: JudgedRun): Map<string, Reading> {
  const lists = calls.filter(
    ({ exchange: { request, answer } }) =>
      endpointCalled(request.method, request.url)?.endpoint === "list" &&
      answer.kind === "answered" &&
      is2xx(answer.status),
  );
  return new Map([...Map.groupBy(lists, listKeyOf)].map(([key, ofList]) => [key, readingOf(ofList)]));
}

const parametersOf = ({ exchange: { request } }: SignedCall): URLSearchParams =>
  new URLSearchParams(targetOf(request).split("?")[1] ?? "");

function listKeyOf(call: SignedCall): string {
  const parameters = parametersOf(call);
  parameters.delete("page");
  parameters.delete("limit");
  return `${targetOf(call.exchange.request).split("?")[0]} ${parameters.toString()}`;
}

function readingOf(calls: readonly SignedCall[]): Reading {
  const counts = calls.map(({ exchange }) => getPath(bodyJson(exchange), "pagination", "pages"));
  return {
    pages: new Set(calls.map((call) => Number(parametersOf(call).get("page") ?? 1))),
    count: Math.max(0, ...counts.filter((each) => typeof each === "number")),
    calls,
  };
}

const isWhole = ({ pages, count }: Reading): boolean =>
  Array.from({ length: count }, (_, at) => at + 1).every((page) => pages.has(page));

/** Judges that a client that reads a whole list on large pages also reads it whole on smaller ones. */
function readsEveryPage({ plain, troubled }: Both): Finding<never> {
  const whole = plain.runs.flatMap((run) => [...readingsOf(run)].filter(([, reading]) => isWhole(reading)));
  const known = new Set(whole.map(([key]) => key));
  const small = troubled.runs
    .filter(({ calls, end }) => hasEndedWell(end) && calls.some(({ trouble }) => trouble === "small-pages"))
    .flatMap((run) => [...readingsOf(run)])
    .filter(([key, { count }]) => known.has(key) && count > 1);
  if (small.length === 0) return unproven("the client read no whole list in small pages");
  const partial = small.filter(([, reading]) => !isWhole(reading));
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

const describeEnd = (end: CommandEnd): string =>
  end.kind === "exited"
    ? `exit code ${end.code}`
    : end.kind === "killed"
      ? `ended by ${end.signal}`
      : "did not end in time";

/** Observes, for each run, which trouble the harness caused and how the command ended. */
const observeStage =
  (stage: JudgedRun["stage"]) =>
  ({ troubled }: Both): Observation => {
    const runs = troubled.runs.filter((run) => run.stage === stage);
    if (runs.length === 0) return unproven("no such response fits the requests of the client");
    return observed(runs.map((run) => `${troublesOf(run).join(", ")}: ${describeEnd(run.end)}`).join("; "));
  };

const troublesOf = ({ calls }: JudgedRun): string[] => [
  ...new Set(calls.flatMap(({ trouble }) => (trouble === null ? [] : [trouble]))),
];

function observeCut({ plain, troubled }: Both): Observation {
  const cut = groupsOf(plain.runs, troubled.runs).filter(({ calls }) =>
    calls.some((call) => failureOf(call)?.kind === "stream cut"),
  );
  if (cut.length === 0) return unproven("the client read no stream without its end");
  return observed(
    cut
      .map(({ repeats, run }) => `${repeats > 0 ? "sent again" : "not sent again"}; ${describeEnd(run.end)}`)
      .join("; "),
  );
}

export const readingChecks = [
  check("CLI-18", both, leavesNoneOpen),
  check("CLI-19", both, readsEveryPage),
  observe("CLI-20", both, observeStage("legal")),
  observe("CLI-21", both, observeStage("failing")),
  observe("CLI-22", both, observeCut),
];

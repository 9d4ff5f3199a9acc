import { type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import type { Sample } from "../../limits/sample.ts";
import { resetDisagreementIn } from "../../limits/reset-agreement.ts";
import { rateLimitHeaders } from "../../interface/headers.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, type Finding, follows, holds, unproven } from "../../run/finding.ts";
import { retryAfterSeconds } from "../../limits/sampling.ts";
import { anyOf, type Enabler, need } from "../../run/lack.ts";
import { failingInvoked, unknownPathAsked } from "../errors/probes.ts";
import { judgeFalls, judgeResetAfter, observeErrors } from "./over-time.ts";
import { allShown, type AllShown, comparable, type KeyShown, repeats, sentAtOnce, windowSeconds } from "./probes.ts";
import { endpointOf, everything, type Everything } from "../answers/recorded.ts";
import { isSuccess, show } from "../answers/shape.ts";

const lacking = (exchange: Exchange): string[] =>
  rateLimitHeaders.filter((name) => headerValues(exchange, name).length === 0);

/** Judges that all four headers are on each of these answers. */
function allFour(exchanges: readonly Exchange[], what: string, needs: Enabler | null = null): Finding<never> {
  if (exchanges.length === 0) return unproven(`the run saw no ${what}`, needs);
  const bad = exchanges.filter((each) => lacking(each).length > 0);
  const [first] = bad;
  if (first === undefined) return holds();
  const count = exchanges.length === 1 ? "it" : `${bad.length} of ${exchanges.length}`;
  return breach(
    `all four rate-limit headers on every ${what}`,
    `missing on ${count}: ${lacking(first).join(", ")}`,
    ...bad.slice(0, 5),
  );
}

const withStatus = (all: Everything, ...statuses: readonly number[]): Exchange[] =>
  all.exchanges.filter((each) => statuses.includes(statusOf(each) ?? 0));

const isOn = (exchange: Exchange, ...endpoints: readonly (string | null)[]): boolean =>
  endpoints.includes(endpointOf(exchange));

/** The paths of the document, whatever the method: a batch, an execution and an agent's details have none. */
const documentedPath =
  /\/v1\/(?:agents(?:\/[^/?#]+\/(?:invoke|stream|health))?|usage|webhooks(?:\/[^/?#]+\/deliveries)?|alerts|keys\/usage|operations\/[^/?#]+)(?:\?[^#]*)?$/;
const isUnknownPath = ({ request }: Exchange): boolean => !documentedPath.test(request.url);

const wholeNumber = /^\s*\d{1,15}(?:\.0+)?\s*$/;

function badValue(exchange: Exchange): string | null {
  for (const name of rateLimitHeaders) {
    const values = headerValues(exchange, name);
    if (values.length > 1) return `${name} comes ${values.length} times`;
    if (values[0] !== undefined && !wholeNumber.test(values[0])) return `${name}: ${show(values[0])}`;
  }
  return null;
}

interface Seen {
  readonly key: KeyShown;
  readonly sample: Sample;
}

/** Answers on a key that the limiter of that key spoke in: what is said to a caller who is not let in is open. */
const seenIn = ({ keys }: AllShown): Seen[] =>
  keys.flatMap((key) =>
    key.samples.flatMap((sample) =>
      sample.status === null || sample.status === 401 || sample.status === 403 ? [] : [{ key, sample }],
    ),
  );

/** Judges every answer; `say` tells what is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
function everyAnswer(
  shown: AllShown,
  all: Everything,
  expected: string,
  say: (seen: Seen) => string | null | undefined,
): Finding<never> {
  let judged = 0;
  for (const seen of seenIn(shown)) {
    const actual = say(seen);
    if (actual !== undefined) judged += 1;
    if (typeof actual !== "string") continue;
    const at = all.exchanges.filter(({ id }) => id === seen.sample.id);
    return breach(expected, `${actual} (${seen.sample.id}, ${seen.sample.kind}, ${seen.sample.status})`, ...at);
  }
  return judged > 0 ? holds() : unproven("no answer had the headers in question");
}

const both = { shown: allShown, all: everything } as const;

export const headers = suite("Rate-limit headers", [
  check("HDR-1", everything, (all) =>
    allFour(
      all.exchanges.filter((one) => isSuccess(one) && !isOn(one, "stream", "health") && !isUnknownPath(one)),
      "successful response",
    ),
  ),
  check("HDR-2", everything, (all) =>
    allFour(
      withStatus(all, 400, 404).filter((one) => !isOn(one, "health") && !isUnknownPath(one)),
      "400 and 404 response",
    ),
  ),
  check("HDR-3", everything, (all) => allFour(withStatus(all, 401), "401 response")),
  check("HDR-4", everything, (all) => allFour(withStatus(all, 429), "429 response", need("limit within reach"))),
  check("HDR-5", { all: everything, asked: failingInvoked }, ({ all }) =>
    allFour(
      withStatus(all, 500).filter((one) => !isOn(one, "health")),
      "500 response",
      "agents.failing in the target file",
    ),
  ),
  check("HDR-6", everything, (all) =>
    allFour(
      all.exchanges.filter((one) => isSuccess(one) && isOn(one, "stream")),
      "stream's response",
      "agents.streaming in the target file",
    ),
  ),
  check("HDR-7", everything, (all) =>
    allFour(
      all.exchanges.filter((one) => isSuccess(one) && isOn(one, "health")),
      "health response",
    ),
  ),
  check("HDR-8", { all: everything, asked: unknownPathAsked }, ({ all }) =>
    allFour(
      withStatus(all, 404).filter((one) => isUnknownPath(one) && one.key !== null),
      "response to a path that the document does not define",
    ),
  ),
  check("HDR-9", everything, ({ exchanges }) => {
    const carrying = exchanges.filter((one) => lacking(one).length < rateLimitHeaders.length);
    if (carrying.length === 0) return unproven("no response has a rate-limit header");
    const bad = carrying.find((one) => badValue(one) !== null);
    return bad === undefined ? holds() : breach("whole numbers, 0 or more, each sent once", badValue(bad) ?? "", bad);
  }),
  check(
    "HDR-9",
    both,
    ({ shown, all }) =>
      everyAnswer(shown, all, "no negative number", ({ sample: { limit, remaining, reset, resetAfter } }) => {
        const numbers = [limit, remaining, reset, resetAfter].filter((value) => value !== null);
        if (numbers.length === 0) return undefined;
        const negative = numbers.find((value) => value < 0);
        return negative === undefined ? null : String(negative);
      }),
    { as: "throughout" },
  ),
  check("HDR-10", both, ({ shown, all }) => {
    // Where nobody is asked for a key, the headers may speak of the address.
    const elsewhere = new Set(all.exchanges.filter(isUnknownPath).map(({ id }) => id));
    const judged = everyAnswer(
      shown,
      all,
      "`X-RateLimit-Limit` is the tier's number for the hour or the minute",
      ({ key: { limits }, sample: { id, limit } }) => {
        if (limits === null || limit === null || elsewhere.has(id)) return undefined;
        const { perHour, perMinute } = limits;
        return limit === perHour || limit === perMinute ? null : `${limit}, not ${perHour} or ${perMinute}`;
      },
    );
    if (judged.kind === "breach") return judged;
    if (judged.kind === "unproven")
      return unproven("no key's tier is known", anyOf("`keys.*.tier` in the target file", need("tier")));
    return follows(readingIn(shown, elsewhere));
  }),
  check("HDR-11", both, ({ shown, all }) =>
    everyAnswer(shown, all, "`Remaining` is not above `Limit`", ({ sample: { limit, remaining } }) => {
      if (limit === null || remaining === null) return undefined;
      return remaining <= limit ? null : `${remaining} of ${limit}`;
    }),
  ),
  check("HDR-12", allShown, judgeFalls),
  check("HDR-13", sentAtOnce, ({ rounds }) => {
    const shown = rounds.map(comparable);
    if (!shown.some(({ length }) => length > 1))
      return unproven("fewer than two requests sent at once were admitted in one window, or `Remaining` was not shown");
    const repeated = rounds.reduce((sum, round) => sum + repeats(round), 0);
    const times = shown.flat();
    const spanMs = Math.max(...times.map(({ headMs }) => headMs)) - Math.min(...times.map(({ sentMs }) => sentMs));
    const mayRefill = 1 + Math.ceil((((times[0]?.limit ?? 0) / 60) * spanMs) / 1000);
    if (repeated <= mayRefill) return holds();
    return breach(
      "requests sent at once each see their own `Remaining`",
      `${repeated} values came again: ${shown.map((round) => round.map(({ remaining }) => remaining).join(", ")).join(" / ")}`,
      ...rounds.flat().slice(0, 6),
    );
  }),
  check("HDR-14", both, ({ shown, all }) => {
    const { hasClock, startedUnixMs } = shown;
    const first =
      seenIn(shown).find(({ sample }) => sample.reset !== null && sample.resetAfter !== null)?.sample ?? null;
    return everyAnswer(shown, all, "`Reset` is Unix seconds, `Reset-After` from now within 2 s", ({ sample }) =>
      resetDisagreementIn({ hasClock, startedUnixMs, first }, sample),
    );
  }),
  check("HDR-15", allShown, judgeResetAfter),
  check("HDR-16", both, ({ shown, all }) =>
    everyAnswer(shown, all, "`Reset-After` is within the window: 60 s or 3600 s", ({ key: { limits }, sample }) => {
      const { limit, resetAfter } = sample;
      if (resetAfter === null) return undefined;
      return resetAfter <= windowSeconds(sample, limits) + 2
        ? null
        : `${resetAfter} s, with a limit of ${limit ?? "none"}`;
    }),
  ),
  check("HDR-18", everything, (all) => {
    const told = withStatus(all, 429).flatMap((one) => {
      const [header] = headerValues(one, "Retry-After");
      const said = retryAfterSeconds(one);
      return header === undefined || said === null ? [] : [{ one, header, said }];
    });
    const limited = withStatus(all, 429);
    if (limited.length === 0) return unproven("no 429 came");
    if (limited.every((one) => headerValues(one, "Retry-After").length === 0)) return follows("absent");
    if (told.length === 0) return unproven("no 429 had both a `Retry-After` header and `retry_after`");
    const apart = told.find(({ one, header, said }) => Math.abs(secondsIn(header, one) - said) > 1);
    if (apart === undefined) return follows("present");
    return breach(`\`Retry-After\` is ${apart.said}, as in the body`, apart.header, apart.one);
  }),
  observe("LIM-26", allShown, observeErrors),
]);

function readingIn(shown: AllShown, elsewhere: ReadonlySet<string>): "hour" | "minute" | "tighter" {
  const seen = new Set(
    seenIn(shown).flatMap(({ key: { limits }, sample: { id, limit, status } }) =>
      // A 429 speaks of the window that refused, whatever the other answers speak of.
      limits === null || limit === null || status === 429 || elsewhere.has(id)
        ? []
        : [limit === limits.perMinute ? "minute" : "hour"],
    ),
  );
  if (seen.size > 1) return "tighter";
  return seen.has("hour") ? "hour" : "minute";
}

/** Seconds that a `Retry-After` header asks for; it may be a date (RFC 9110, 10.2.3). */
function secondsIn(header: string, exchange: Exchange): number {
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const [date] = headerValues(exchange, "Date");
  return (Date.parse(header) - Date.parse(date ?? "")) / 1000;
}

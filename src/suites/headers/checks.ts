import { type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import type { Sample } from "../../limits/sample.ts";
import { rateLimitHeaders } from "../../interface/headers.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, type Finding, follows, holds, unproven } from "../../run/finding.ts";
import { retryAfterSeconds } from "../../limits/sampling.ts";
import { failingInvoked, unknownPathAsked } from "../errors/probes.ts";
import { judgeFalls, judgeResetAfter, observeErrors } from "./over-time.ts";
import { allShown, type AllShown, comparable, type KeyShown, repeats, sentAtOnce, windowSeconds } from "./probes.ts";
import { endpointOf, everything, type Everything } from "../answers/recorded.ts";
import { isSuccess, show } from "../answers/shape.ts";

const lacking = (exchange: Exchange): string[] =>
  rateLimitHeaders.filter((name) => headerValues(exchange, name).length === 0);

/** Judges that all four headers are on each of these answers. */
function allFour(exchanges: readonly Exchange[], what: string, needs: string | null = null): Finding<never> {
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
  check("HDR-4", everything, (all) =>
    allFour(
      withStatus(all, 429),
      "429 response",
      "a key whose limit may be used up: a known tier, and more `--max-wait`",
    ),
  ),
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
      return unproven("no key's tier is known", "`keys.*.tier` in the target file, or `--tier`");
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
    const first = seenIn(shown).find(({ sample }) => toldNow(sample) !== null)?.sample ?? null;
    return everyAnswer(shown, all, "`Reset` is Unix seconds, `Reset-After` from now within 2 s", ({ sample }) =>
      resetDisagreement(sample, shown, first),
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

/** How far two machines' clocks may be apart where the target does not tell its own time. */
const mostSkewSeconds = 300;

/** The instant that an answer's two headers tell together, in Unix seconds. */
const toldNow = ({ reset, resetAfter }: Sample): number | null =>
  reset === null || resetAfter === null ? null : reset - resetAfter;

/** Unix seconds of these years and the next hundreds. */
const isOfThisEra = (seconds: number): boolean => seconds > 1e9 && seconds < 1e10;
/** Four values, each rounded to whole seconds, and a second for what lies between them. */
const roundingSeconds = 5;

/** For a clock that the run moves and no `Date` tells: whether two answers' instants lie as far apart as was moved. */
function isApartAsMoved(first: Sample, sample: Sample): boolean | undefined {
  const [from, to] = [toldNow(first), toldNow(sample)];
  if (from === null || to === null || !isOfThisEra(from) || !isOfThisEra(to)) return undefined;
  const leastMs = sample.sentClockMs - first.headClockMs + Math.min(0, sample.sentMs - first.headMs);
  const mostMs = sample.headClockMs - first.sentClockMs + Math.max(0, sample.headMs - first.sentMs);
  return to - from >= leastMs / 1000 - roundingSeconds && to - from <= mostMs / 1000 + roundingSeconds;
}

function resetDisagreement(
  sample: Sample,
  { hasClock, startedUnixMs }: AllShown,
  first: Sample | null,
): string | null | undefined {
  const { reset, resetAfter, date, sentMs, headMs } = sample;
  if (reset === null || resetAfter === null) return undefined;
  const ours = (startedUnixMs + headMs) / 1000;
  // Servers that count windows when a request arrives, and answer it much later, speak of its arrival.
  const tookSeconds = (headMs - sentMs + sample.headClockMs - sample.sentClockMs) / 1000;
  if (date === null) {
    if (hasClock) {
      const isRight = first === null ? undefined : isApartAsMoved(first, sample);
      return isRight === false
        ? disagreement(sample, "the first answer's clock", toldNow(first ?? sample) ?? 0)
        : isRight && null;
    }
    const apart = reset - resetAfter - ours;
    return Math.abs(apart) <= mostSkewSeconds + tookSeconds ? null : disagreement(sample, "our clock", ours);
  }
  const apart = reset - resetAfter - date;
  // A `Date` is cut to whole seconds, and many servers renew it once a second.
  if (apart >= -3 - tookSeconds && apart <= 4) return null;
  // Behind a proxy, `Date` may not follow a clock that is moved or that the target keeps for itself.
  const isOfNoTime = Math.abs(apart) > 1e8;
  const isMoved = hasClock && !isOfNoTime && Math.abs(date - ours) < mostSkewSeconds;
  return isMoved ? undefined : disagreement(sample, "Date", date);
}

const disagreement = ({ reset, resetAfter }: Sample, clock: string, at: number): string =>
  `Reset ${reset}, Reset-After ${resetAfter}, ${clock} ${Math.round(at)}`;

/** Seconds that a `Retry-After` header asks for; it may be a date (RFC 9110, 10.2.3). */
function secondsIn(header: string, exchange: Exchange): number {
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const [date] = headerValues(exchange, "Date");
  return (Date.parse(header) - Date.parse(date ?? "")) / 1000;
}

import { type ClientCall, identityOf, requestHeaders, type RunStage, targetOf } from "../evidence/client-call.ts";
import type { SentRequest } from "../evidence/exchange.ts";
import { is2xx } from "../base/http-status.ts";
import { seededNumbers } from "../base/statistics/random.ts";
import { endpointCalled, type EndpointName } from "../spec/endpoints.ts";
import type { ChooseTrouble } from "./gateway.ts";
import { jsonEdits, overloadedStream, streamTroubles } from "./stream-shapes.ts";
import { failing, rateLimited, type Trouble, type TroubleName } from "./trouble.ts";

export interface TroublePlanOptions {
  /** The troubles to make. */
  readonly names: readonly TroubleName[];
  readonly seed: number;
  /** The calls of the run without trouble. Trouble is made only of requests that succeeded in it. */
  readonly plain: readonly ClientCall[];
  /** Longest `retry_after` in seconds. Default: 3. */
  readonly maxRetryAfterSeconds?: number;
}

/** The schedule of trouble over several runs of a client. */
export interface TroublePlan {
  /** Starts the next run. Returns `null` if every trouble was made that the client's requests allow. */
  readonly begin: () => Exclude<RunStage, "plain"> | null;
  readonly choose: ChooseTrouble;
}

/** One item of the schedule: what is done to a request, and to its repeats, in order. */
interface Item {
  readonly name: TroubleName;
  readonly stage: Exclude<RunStage, "plain">;
  readonly fits: (request: SentRequest, endpoint: EndpointName) => boolean;
  readonly steps: (request: SentRequest) => readonly Trouble[];
  /** How long the steps apply, in milliseconds. Default: until all were made. */
  readonly lastsMs?: number;
  /** Whether the trouble is made of every fitting request of the run. */
  readonly isOfWholeRun?: true;
}

const isStream = (_: SentRequest, endpoint: EndpointName): boolean => endpoint === "stream";
const isPost = ({ method }: SentRequest): boolean => method === "POST";
/** The endpoints without a rate limit answer no 429. */
const isLimited = (_: SentRequest, endpoint: EndpointName): boolean => endpoint !== "health";
const anywhere = (): boolean => true;

const outageAttempts = 20;
const outageMs = 20_000;

/** A failure of three attempts. It begins with one status, and goes on with the others. */
function chain(name: "500" | "502" | "503", chosen: readonly TroubleName[], fits: Item["fits"]): Item {
  const statuses = [name, ...(["500", "502", "503"] as const).filter((each) => each !== name && chosen.includes(each))];
  const steps = Array.from({ length: 3 }, (_, at) => failing(name, Number(statuses[at % statuses.length])));
  return { name, stage: "failing", fits, steps: () => steps };
}

const ofStream = (name: keyof typeof streamTroubles, stage: Item["stage"]): Item => ({
  name,
  stage,
  fits: isStream,
  steps: () => [{ name, kind: "stream", shape: streamTroubles[name] }],
});

const ofJson = (name: keyof typeof jsonEdits): Item => ({
  name,
  stage: "legal",
  fits: (_, endpoint) => endpoint === "invoke" || endpoint === "health",
  steps: () => [{ name, kind: "edit", edit: jsonEdits[name] }],
});

const limitOf = (request: SentRequest): number =>
  Number(new URLSearchParams(targetOf(request).split("?")[1] ?? "").get("limit") ?? 10);

const smallPages: Item = {
  name: "small-pages",
  stage: "legal",
  fits: (request, endpoint) => endpoint === "list" && limitOf(request) >= 2,
  steps: (request) => [{ name: "small-pages", kind: "pages", limit: Math.min(3, limitOf(request) - 1) }],
  isOfWholeRun: true,
};

const legalStreams = ["slow-stream", "crlf", "comments", "multi-line", "unknown-fields", "unknown-events"] as const;

/**
 * Prefers GET for some failures, because many clients retry nothing else. `min` is the number of different GET requests
 * that the client must have sent.
 */
function getIfAny(known: readonly SentRequest[], min: number, fits: Item["fits"] = anywhere): Item["fits"] {
  const isGet: Item["fits"] = (request, endpoint) => request.method === "GET" && fits(request, endpoint);
  const gets = known.filter((each) => fitsTo(isGet, each)).map(identityOf);
  return new Set(gets).size >= min ? isGet : fits;
}

function itemsOf(
  { names, maxRetryAfterSeconds = 3 }: TroublePlanOptions,
  known: readonly SentRequest[],
  random: () => number,
): readonly Item[] {
  const failures = (["500", "502", "503"] as const).filter((name) => names.includes(name));
  const seconds = (): number => Math.max(1, maxRetryAfterSeconds - Math.floor(random() * 2));
  const items: readonly Item[] = [
    ...legalStreams.map((name) => ofStream(name, "legal")),
    ofStream("null-fields", "legal"),
    ofStream("stream-open", "legal"),
    ofJson("unknown-fields"),
    ofJson("null-fields"),
    smallPages,
    ...(["a", "b"] as const).map((form): Item => ({
      name: "429",
      stage: "failing",
      fits: form === "a" ? getIfAny(known, 1, isLimited) : isLimited,
      steps: () => [rateLimited(form, seconds())],
    })),
    ...failures.map((name, at) => chain(name, names, at === 0 ? getIfAny(known, 1) : anywhere)),
    {
      name: "outage",
      stage: "failing",
      fits: getIfAny(known, 2),
      steps: () => Array.from({ length: outageAttempts }, () => failing("outage", 503)),
      lastsMs: outageMs,
    },
    { name: "reset", stage: "failing", fits: isPost, steps: () => [{ name: "reset", kind: "reset" }] },
    { name: "reset", stage: "failing", fits: anywhere, steps: () => [{ name: "reset", kind: "reset" }] },
    ofStream("stream-error", "failing"),
    ofStream("stream-cut", "failing"),
    { name: "stream-overload", stage: "failing", fits: isStream, steps: () => [overloadedStream(seconds())] },
  ];
  return items.filter(({ name }) => names.includes(name));
}

/** Trouble that is being made of one request and its repeats. */
interface Ongoing {
  readonly steps: readonly Trouble[];
  readonly untilMs: number;
  made: number;
}

/**
 * Plans trouble over the runs of a client. Each request gets at most one trouble in a run. Legal responses come first,
 * in runs of their own. The seed decides which request gets which trouble.
 */
export function planTrouble(options: TroublePlanOptions): TroublePlan {
  const random = seededNumbers(options.seed);
  const plain = Map.groupBy(options.plain, ({ exchange }) => identityOf(exchange.request));
  const isOnce = (request: SentRequest): boolean => (plain.get(identityOf(request))?.length ?? 1) === 1;
  const known = options.plain.filter(succeeded).map(({ exchange }) => exchange.request);
  const canMeet = ({ fits }: Item): boolean => known.some((each) => fitsTo(fits, each));
  let pending = itemsOf(options, known, random).filter(canMeet);
  let stage: Exclude<RunStage, "plain"> = "legal";
  let hasApplied = true;
  let ongoing = new Map<string, Ongoing>();
  let wholeRun: { readonly item: Item; readonly steps: readonly Trouble[] } | null = null;

  const begin: TroublePlan["begin"] = () => {
    if (stage === "legal" && (!hasApplied || !pending.some((each) => each.stage === "legal"))) {
      stage = "failing";
      hasApplied = true;
    }
    if (!hasApplied || !pending.some((each) => each.stage === stage)) return null;
    hasApplied = false;
    ongoing = new Map();
    wholeRun = null;
    return stage;
  };

  const start = (request: SentRequest): Ongoing | null => {
    const fitting = pending.filter((each) => each.stage === stage && fitsTo(each.fits, request));
    // A repeat of a request that the client sends several times anyway cannot be told apart: better another request.
    const best = fitting.filter(
      (each) => isOnce(request) || !known.some((one) => isOnce(one) && fitsTo(each.fits, one)),
    );
    const item = best[Math.floor(random() * best.length)];
    if (item === undefined) return null;
    pending = pending.filter((each) => each !== item);
    hasApplied = true;
    const steps = item.steps(request);
    if (item.isOfWholeRun === true) wholeRun = { item, steps };
    return { steps, untilMs: performance.now() + (item.lastsMs ?? Infinity), made: 0 };
  };

  const choose: ChooseTrouble = (request, isOwnKey) => {
    if (!isOwnKey || plain.get(identityOf(request))?.some((each) => !succeeded(each)) === true) return null;
    if (wholeRun !== null && fitsTo(wholeRun.item.fits, request)) return wholeRun.steps[0] ?? null;
    const identity = identityOf(request);
    const current = ongoing.get(identity) ?? start(request);
    if (current === null) return null;
    ongoing.set(identity, current);
    const next = performance.now() <= current.untilMs ? (current.steps[current.made] ?? null) : null;
    current.made += 1;
    return next;
  };
  return { begin, choose };
}

const succeeded = ({ exchange: { answer } }: ClientCall): boolean => answer.kind === "answered" && is2xx(answer.status);

function fitsTo(fits: Item["fits"], request: SentRequest): boolean {
  const call = endpointCalled(request.method, request.url);
  return call !== null && fits(request, call.endpoint) && requestHeaders(request, "upgrade").length === 0;
}

import { requestHeaderValues, type SentRequest } from "../evidence/exchange.ts";
import { type ClientCall, requestIdentity, requestTarget, type RunStage } from "../evidence/client-call.ts";
import { is2xx } from "../base/http.ts";
import { seededRandom } from "../base/numbers.ts";
import { endpointOfRequest, type EndpointName } from "../spec/endpoints.ts";
import type { ChooseTrouble } from "./gateway.ts";
import {
  jsonEdits,
  overloadedStream,
  streamTroubles,
  serverFailure,
  rateLimitRefusal,
  type Trouble,
  type TroubleName,
} from "./trouble.ts";

interface TroublePlanOptions {
  readonly names: readonly TroubleName[];
  readonly seed: number;
  /**
   * Calls of the client's first run, in which no errors are injected. A request that got no 2xx in this run also gets
   * the server's own response in later runs.
   */
  readonly plain: readonly ClientCall[];
  /** Longest `retry_after` of a 429 or an `error` event, in seconds. Default: 3. */
  readonly maxRetryAfterSeconds?: number | undefined;
}

interface TroublePlan {
  /**
   * Prepares the next run of the client, and returns its kind: `legal` first, then `failing`. `null`: no further run,
   * because all troubles were injected, or the previous `failing` run sent no suitable request.
   */
  readonly begin: () => Exclude<RunStage, "plain"> | null;
  readonly choose: ChooseTrouble;
}

/**
 * An error or an unusual response that the gateway injects. `fits`: whether the item suits a request. `steps` returns
 * the responses to this request and to its retries, in order.
 */
interface TroubleItem {
  readonly name: TroubleName;
  readonly stage: Exclude<RunStage, "plain">;
  readonly fits: (request: SentRequest, endpoint: EndpointName) => boolean;
  readonly steps: (request: SentRequest) => readonly Trouble[];
  /** Time in which retries of a request get errors, in ms. Later retries get normal responses. Default: no limit. */
  readonly lastsMs?: number;
  /**
   * If set, the item applies to every request of the run that `fits` accepts. Otherwise, the item applies to one
   * request and its retries.
   */
  readonly appliesToWholeRun?: true;
}

const isStream = (_: SentRequest, endpoint: EndpointName): boolean => endpoint === "stream";
const isPost = ({ method }: SentRequest): boolean => method === "POST";
const isLimited = (_: SentRequest, endpoint: EndpointName): boolean => endpoint !== "health";
const fitsAnyRequest = (): boolean => true;

const outageAttempts = 20;
const outageMs = 20_000;

function repeatedFailure(
  name: "500" | "502" | "503",
  chosen: readonly TroubleName[],
  fits: TroubleItem["fits"],
): TroubleItem {
  const statuses = [name, ...(["500", "502", "503"] as const).filter((each) => each !== name && chosen.includes(each))];
  const steps = Array.from({ length: 3 }, (_, at) => serverFailure(name, Number(statuses[at % statuses.length])));
  return { name, stage: "failing", fits, steps: () => steps };
}

const streamItem = (name: keyof typeof streamTroubles, stage: TroubleItem["stage"]): TroubleItem => ({
  name,
  stage,
  fits: isStream,
  steps: () => [{ name, kind: "stream", shape: streamTroubles[name] }],
});

const jsonItem = (name: keyof typeof jsonEdits): TroubleItem => ({
  name,
  stage: "legal",
  fits: (_, endpoint) => endpoint === "invoke" || endpoint === "health",
  steps: () => [{ name, kind: "edit", edit: jsonEdits[name] }],
});

const pageLimitOf = (request: SentRequest): number =>
  Number(new URLSearchParams(requestTarget(request).split("?")[1] ?? "").get("limit") ?? 10);

const smallPages: TroubleItem = {
  name: "small-pages",
  stage: "legal",
  fits: (request, endpoint) => endpoint === "list" && pageLimitOf(request) >= 2,
  steps: (request) => [{ name: "small-pages", kind: "pages", limit: Math.min(3, pageLimitOf(request) - 1) }],
  appliesToWholeRun: true,
};

const legalStreams = ["slow-stream", "crlf", "comments", "multi-line", "unknown-fields", "unknown-events"] as const;

/**
 * Restricts `fits` to GET requests, because many clients retry only these. `known`: the successful requests of the
 * first run. Returns `fits` unchanged if fewer than `min` different GET requests among them match.
 */
function preferGet(
  known: readonly SentRequest[],
  min: number,
  fits: TroubleItem["fits"] = fitsAnyRequest,
): TroubleItem["fits"] {
  const isGet: TroubleItem["fits"] = (request, endpoint) => request.method === "GET" && fits(request, endpoint);
  const gets = known.filter((each) => itemFits(isGet, each)).map(requestIdentity);
  return new Set(gets).size >= min ? isGet : fits;
}

function troubleItems(
  { names, maxRetryAfterSeconds = 3 }: TroublePlanOptions,
  known: readonly SentRequest[],
  random: () => number,
): readonly TroubleItem[] {
  const failures = (["500", "502", "503"] as const).filter((name) => names.includes(name));
  const seconds = (): number => Math.max(1, maxRetryAfterSeconds - Math.floor(random() * 2));
  const items: readonly TroubleItem[] = [
    ...legalStreams.map((name) => streamItem(name, "legal")),
    streamItem("null-fields", "legal"),
    streamItem("stream-open", "legal"),
    jsonItem("unknown-fields"),
    jsonItem("null-fields"),
    smallPages,
    ...(["a", "b"] as const).map((form): TroubleItem => ({
      name: "429",
      stage: "failing",
      fits: form === "a" ? preferGet(known, 1, isLimited) : isLimited,
      steps: () => [rateLimitRefusal(form, seconds())],
    })),
    ...failures.map((name, at) => repeatedFailure(name, names, at === 0 ? preferGet(known, 1) : fitsAnyRequest)),
    {
      name: "outage",
      stage: "failing",
      fits: preferGet(known, 2),
      steps: () => Array.from({ length: outageAttempts }, () => serverFailure("outage", 503)),
      lastsMs: outageMs,
    },
    { name: "reset", stage: "failing", fits: isPost, steps: () => [{ name: "reset", kind: "reset" }] },
    { name: "reset", stage: "failing", fits: fitsAnyRequest, steps: () => [{ name: "reset", kind: "reset" }] },
    streamItem("stream-error", "failing"),
    streamItem("stream-cut", "failing"),
    { name: "stream-overload", stage: "failing", fits: isStream, steps: () => [overloadedStream(seconds())] },
  ];
  return items.filter(({ name }) => names.includes(name));
}

interface OngoingTrouble {
  readonly steps: readonly Trouble[];
  readonly untilMs: number;
  nextStep: number;
}

/** Plans the runs after a client's first run: unusual but legal responses come first, errors in later runs. */
export function planTrouble(options: TroublePlanOptions): TroublePlan {
  const random = seededRandom(options.seed);
  const plain = Map.groupBy(options.plain, ({ exchange }) => requestIdentity(exchange.request));
  const isOnce = (request: SentRequest): boolean => (plain.get(requestIdentity(request))?.length ?? 1) === 1;
  const known = options.plain.filter(succeeded).map(({ exchange }) => exchange.request);
  const canMeet = ({ fits }: TroubleItem): boolean => known.some((each) => itemFits(fits, each));
  let pending = troubleItems(options, known, random).filter(canMeet);
  let stage: Exclude<RunStage, "plain"> = "legal";
  let hasApplied = true;
  let ongoing = new Map<string, OngoingTrouble>();
  let wholeRun: { readonly item: TroubleItem; readonly steps: readonly Trouble[] } | null = null;

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

  const start = (request: SentRequest): OngoingTrouble | null => {
    const fitting = pending.filter((each) => each.stage === stage && itemFits(each.fits, request));
    // If the client repeats a request anyway, the repetition looks like a retry. So a repeated request gets an item
    // only if the item fits no request that the client sends once.
    const best = fitting.filter(
      (each) => isOnce(request) || !known.some((one) => isOnce(one) && itemFits(each.fits, one)),
    );
    const item = best[Math.floor(random() * best.length)];
    if (item === undefined) return null;
    pending = pending.filter((each) => each !== item);
    hasApplied = true;
    const steps = item.steps(request);
    if (item.appliesToWholeRun === true) wholeRun = { item, steps };
    return { steps, untilMs: performance.now() + (item.lastsMs ?? Infinity), nextStep: 0 };
  };

  const choose: ChooseTrouble = (request, isOwnKey) => {
    if (!isOwnKey || plain.get(requestIdentity(request))?.some((each) => !succeeded(each)) === true) return null;
    if (wholeRun !== null && itemFits(wholeRun.item.fits, request)) return wholeRun.steps[0] ?? null;
    const identity = requestIdentity(request);
    const current = ongoing.get(identity) ?? start(request);
    if (current === null) return null;
    ongoing.set(identity, current);
    const next = performance.now() <= current.untilMs ? (current.steps[current.nextStep] ?? null) : null;
    current.nextStep += 1;
    return next;
  };
  return { begin, choose };
}

const succeeded = ({ exchange: { answer } }: ClientCall): boolean => answer.kind === "answered" && is2xx(answer.status);

function itemFits(fits: TroubleItem["fits"], request: SentRequest): boolean {
  const call = endpointOfRequest(request.method, request.url);
  return call !== null && fits(request, call.endpoint) && requestHeaderValues(request, "upgrade").length === 0;
}

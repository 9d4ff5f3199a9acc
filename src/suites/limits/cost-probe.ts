import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { hasFewRequests, mainKey } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { withReservedWait } from "../../run/time/run-clock.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { endpointOf } from "../shared/all-exchanges.ts";
import { coverageProbe } from "../shared/coverage-probe.ts";
import { countedReadPath, ensureAllowance, unlessWaitRefused, unpaced } from "./exhaust.ts";
import { countedReadOf } from "./key-history.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { fallBetween } from "../shared/compare-samples.ts";
import { isSuccess } from "../shared/response.ts";
import { admissibleCosts, type RequestKind } from "./ledger.ts";

const repeatCount = 3;
/** Request kinds, as endpoint and status, that `costsMeasured` skips. Other probes already repeat such requests. */
const skippedKinds: ReadonlySet<string> = new Set(["usage 200", "health 200"]);
/**
 * Maximum number of request kinds to measure, such as `invoke 404`. Fewer without a test clock (`real`): the key may
 * then have to wait for its limit.
 */
const maxKinds = { clock: 14, real: 5 } as const;
/** Maximum length of a request body that the probe sends again, in characters. */
const maxBodyLength = 1000;

const maxKindsOf = (target: Target): number => {
  if (hasFewRequests(target)) return 0;
  return target.clock === null ? maxKinds.real : maxKinds.clock;
};

/**
 * Repeats recorded requests that change nothing, one for each endpoint and status, e.g. an invoke with 404. Checks then
 * compute how much each repeat lowers `Remaining`.
 */
export const costsMeasured = probe(
  "requests of each kind are repeated, for what they cost",
  {
    since: "1.1",
    requests: (target) => maxKindsOf(target) * (repeatCount + 1),
    executions: 0,
    stage: "coverage",
    after: [coverageProbe],
    mayDropRequests: true,
  },
  async (context): Promise<{ readonly kinds: number }> => {
    const { client, recorder, target, time } = context;
    const chosen = repeatableRequests(context).slice(0, maxKindsOf(target));
    const perMinute = limitsOf(client.key, target)?.perMinute ?? 0;
    if (chosen.length > 0)
      await ensureAllowance(client, 1 + chosen.length * (repeatCount + 1), { time, recorder, perMinute });
    if (chosen.length > 0) await client.send("GET", "/usage");
    for (const exchange of chosen) {
      for (let sent = 0; sent < repeatCount; sent += 1) await repeatRequest(exchange, context);
      await client.send("GET", "/usage");
    }
    return { kinds: chosen.length };
  },
);

function repeatRequest({ request }: Exchange, { client, target }: ProbeContext): Promise<Exchange> {
  const { method, url, headers, body } = request;
  const accept = headers.find(([name]) => name.toLowerCase() === "accept")?.[1];
  return client.send(method, url.slice(target.baseUrl.length), {
    ...(accept === undefined ? {} : { accept }),
    ...(body.kind === "text" ? { text: body.text } : {}),
  });
}

function repeatableRequests({ recorder, target, client, readOnly }: ProbeContext): Exchange[] {
  const found = new Map<string, Exchange>();
  for (const exchange of recorder.exchangesSinceOutage()) {
    const { key, request } = exchange;
    const status = statusOf(exchange);
    const endpoint = endpointOf(exchange, { batchPath: target.paths.batch });
    const isOurs = key === client.key.name && request.url.startsWith(`${target.baseUrl}/`) && isPlainRequest(exchange);
    const isGet = request.method === "GET" && (status === 200 || status === 404);
    const isRejected = request.method === "POST" && (status === 400 || status === 404) && !readOnly;
    const name = `${endpoint} ${status}`;
    if (isOurs && endpoint !== null && !skippedKinds.has(name) && (isGet || isRejected)) found.set(name, exchange);
  }
  const isRead = ({ request }: Exchange): boolean => request.method === "GET";
  const all = [...found.values()];
  return [...all.filter(isRead), ...all.filter((each) => !isRead(each))];
}

const isPlainRequest = ({ request: { headers, body } }: Exchange): boolean =>
  (body.kind === "none" || (body.kind === "text" && body.text.length <= maxBodyLength)) &&
  headers.every(([name, value]) => /^(authorization|accept)$/i.test(name) || isJsonType(name, value));

const isJsonType = (name: string, value: string): boolean =>
  name.toLowerCase() === "content-type" && value === "application/json";

const maxKeys = 5;
/** Minimum limit per minute of a measured key. The probe would use up too much of a smaller limit. */
const minPerMinute = 20;
/** Number of GET requests before and after the health requests. They show how much one GET lowers `Remaining`. */
const readCounts = { before: 2, after: 3 } as const;
const healthTimes = 2;

/**
 * Returns the valid keys, except the main key and keys that need a signature, are near their token quota, or work only
 * from some addresses.
 */
export function otherPlainKeys(target: Target): TargetKey[] {
  const main = mainKey(target);
  return Object.values(target.keys).filter(
    (key) => !key.expired && !key.signed && !key.nearQuota && key.allowedIps === null && key.key !== main?.key,
  );
}

function keysToMeasure(target: Target): TargetKey[] {
  if (hasFewRequests(target)) return [];
  const isLarge = (key: TargetKey): boolean => (limitsOf(key, target)?.perMinute ?? minPerMinute) >= minPerMinute;
  const isUnrestricted = ({ scope, agents, expiresInSeconds }: TargetKey): boolean =>
    scope === null && agents === null && expiresInSeconds === null;
  return otherPlainKeys(target)
    .filter((key) => key.tokensPerMonth === null && isLarge(key))
    .toSorted((one, other) => Number(isUnrestricted(one)) - Number(isUnrestricted(other)))
    .slice(0, maxKeys);
}

/** Sends health requests between other GETs, but not with the main key. `Remaining` shows whether health counts. */
export const healthCostMeasured = probe(
  "health is read between other requests with every other key, for what it costs",
  {
    since: "1.1",
    requests: (target) => (keysToMeasure(target).length === 0 ? 0 : readCounts.before + readCounts.after),
    keys: keysToMeasure,
    reads: true,
    stage: "coverage",
    mayDropRequests: true,
  },
  async (context): Promise<{ readonly keys: readonly string[] }> => {
    const measured: string[] = [];
    for (const key of keysToMeasure(context.target)) if (await measureHealth(key, context)) measured.push(key.name);
    return { keys: measured };
  },
);

async function measureHealth(key: TargetKey, context: ProbeContext): Promise<boolean> {
  const { recorder, target, discovery } = context;
  const time = withReservedWait(Number.POSITIVE_INFINITY, context.time);
  const agent = key.agents?.[0] ?? target.agents.answering;
  const countedRead = countedReadOf(discovery);
  const isValidLongEnough =
    key.expiresInSeconds === null || time.targetMs() + 2 * minuteOverMs < key.expiresInSeconds * 1000;
  if (agent === undefined || countedRead === null || !isValidLongEnough) return false;
  const own = context.client.as(key);
  const read = (): Promise<Exchange> => own.send("GET", countedReadPath(countedRead), unpaced);
  const perMinute = limitsOf(key, target)?.perMinute ?? minPerMinute;
  const requests = readCounts.before + healthTimes + readCounts.after;
  const ensured = await unlessWaitRefused(() => ensureAllowance(own, requests, { time, recorder, perMinute }));
  if (ensured === null) return false;
  if (statusOf(await read()) !== 200) return false;
  for (let sent = 1; sent < readCounts.before; sent += 1) await read();
  for (let sent = 0; sent < healthTimes; sent += 1) await own.health(agent);
  for (let sent = 0; sent < readCounts.after; sent += 1) await read();
  return true;
}

/** Finds and repeats requests that lower `Remaining` too much, e.g. a failed invoke that lowers it by 2. */
interface CostWatcher {
  /** Compares `Remaining` with that of the key's previous exchange. `again` repeats the request. */
  readonly note: (exchange: Exchange, again: () => Promise<Exchange | null>) => void;
  /** Repeats requests that cost too much: another client may have lowered `Remaining` the first time. */
  readonly repeatSuspects: () => Promise<void>;
}

interface Suspect {
  readonly exchange: Exchange;
  readonly again: () => Promise<Exchange | null>;
}

const maxSuspects = 4;

/** Creates a watcher, which does nothing without a test clock. */
export function createCostWatcher(context: ProbeContext): CostWatcher {
  const suspects: Suspect[] = [];
  const last = new Map<string, Exchange>();
  return {
    note: (exchange, again) => {
      if (exchange.key === null || !context.time.canAdvance) return;
      const before = last.get(exchange.key);
      last.set(exchange.key, exchange);
      if (before !== undefined && costsTooMuch(before, exchange)) suspects.push({ exchange, again });
    },
    repeatSuspects: async () => {
      for (const suspect of suspects.slice(0, maxSuspects))
        try {
          await repeatSuspect(suspect, context);
        } catch (error) {
          if (!(error instanceof SkipError)) throw error;
        }
    },
  };
}

const kindOf = (exchange: Exchange): RequestKind => ({
  endpoint: endpointOf(exchange),
  outcome: isSuccess(exchange) ? "2xx" : String(statusOf(exchange)),
});

function costsTooMuch(before: Exchange, exchange: Exchange): boolean {
  const fall = fallBetween(sampleOf(before), sampleOf(exchange));
  return fall !== null && fall.fell > admissibleCosts(kindOf(exchange)).max;
}

async function repeatSuspect({ exchange, again }: Suspect, context: ProbeContext): Promise<void> {
  const { client, recorder, target, time, discovery } = context;
  const key = target.keys[exchange.key ?? ""];
  const countedRead = countedReadOf(discovery);
  if (key === undefined || countedRead === null) return;
  const own = client.as(key);
  const perMinute = limitsOf(key, target)?.perMinute ?? 0;
  const path = countedReadPath(countedRead);
  const readAll = async (): Promise<void> => {
    for (let read = 0; read < repeatCount; read += 1) await own.send("GET", path);
  };
  await ensureAllowance(own, 3 * repeatCount, { time, recorder, perMinute });
  await readAll();
  for (let sent = 0; sent < repeatCount; sent += 1) await again();
  await readAll();
}

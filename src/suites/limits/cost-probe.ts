import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { Target } from "../../target/target.ts";
import { endpointOf } from "../shared/all-exchanges.ts";
import { coverageProbe } from "../shared/coverage-probe.ts";
import { ensureAllowance } from "./exhaust.ts";

/** Number of requests of one kind in a row. The second and the third show their cost. */
const times = 3;
/** Kinds of requests that other probes repeat anyway. */
const isKnown: ReadonlySet<string> = new Set(["usage 200", "health 200"]);
/**
 * Maximum number of kinds to repeat, with a test clock and without one: on a real clock, each request may have to wait
 * for a window.
 */
const maxKinds = { clock: 14, real: 5 } as const;
/** The longest body to send again. */
const maxBodyLength = 1000;

const kindsAtMost = (target: Target): number => {
  if (hasFewRequests(target)) return 0;
  return target.clock === null ? maxKinds.real : maxKinds.clock;
};

/**
 * Repeats one request of each kind that runs no agent and creates nothing, and reads usage in between. The ledger can
 * then tell what a request of each kind costs.
 */
export const costsMeasured = probe(
  "requests of each kind are repeated, for what they cost",
  {
    since: "1.1",
    requests: (target) => kindsAtMost(target) * (times + 1),
    executions: 0,
    stage: "coverage",
    after: [coverageProbe],
    mayDropRequests: true,
  },
  async (context): Promise<{ readonly kinds: number }> => {
    const { client, recorder, target, time } = context;
    const chosen = repeatable(context).slice(0, kindsAtMost(target));
    const perMinute = limitsOf(client.key, target)?.perMinute ?? 0;
    if (chosen.length > 0)
      await ensureAllowance(client, 1 + chosen.length * (times + 1), { time, recorder, perMinute });
    if (chosen.length > 0) await client.send("GET", "/usage");
    for (const exchange of chosen) {
      for (let sent = 0; sent < times; sent += 1) await repeat(exchange, context);
      await client.send("GET", "/usage");
    }
    return { kinds: chosen.length };
  },
);

function repeat({ request }: Exchange, { client, target }: ProbeContext): Promise<Exchange> {
  const { method, url, headers, body } = request;
  const accept = headers.find(([name]) => name.toLowerCase() === "accept")?.[1];
  return client.send(method, url.slice(target.baseUrl.length), {
    ...(accept === undefined ? {} : { accept }),
    ...(body.kind === "text" ? { text: body.text } : {}),
  });
}

/**
 * The last request of each kind that can be sent again without effect: a GET, or a POST that was rejected for its
 * content.
 */
function repeatable({ recorder, target, client, readOnly }: ProbeContext): Exchange[] {
  const found = new Map<string, Exchange>();
  for (const exchange of recorder.exchanges()) {
    const { key, request } = exchange;
    const status = statusOf(exchange);
    const endpoint = endpointOf(exchange, { batchPath: target.paths.batch });
    const isOurs = key === client.key.name && request.url.startsWith(`${target.baseUrl}/`) && isPlain(exchange);
    const isGet = request.method === "GET" && (status === 200 || status === 404);
    const isRejected = request.method === "POST" && (status === 400 || status === 404) && !readOnly;
    const name = `${endpoint} ${status}`;
    if (isOurs && endpoint !== null && !isKnown.has(name) && (isGet || isRejected)) found.set(name, exchange);
  }
  const isRead = ({ request }: Exchange): boolean => request.method === "GET";
  const all = [...found.values()];
  return [...all.filter(isRead), ...all.filter((each) => !isRead(each))];
}

/** Whether a request has a short body, if any, and no headers but those that every request has. */
const isPlain = ({ request: { headers, body } }: Exchange): boolean =>
  (body.kind === "none" || (body.kind === "text" && body.text.length <= maxBodyLength)) &&
  headers.every(([name, value]) => /^(authorization|accept)$/i.test(name) || isJsonType(name, value));

const isJsonType = (name: string, value: string): boolean =>
  name.toLowerCase() === "content-type" && value === "application/json";

import { getPath, isObject } from "../../base/json.ts";
import { bodyJson, type Exchange, headerValues } from "../../evidence/exchange.ts";
import { endpointsAtPath } from "../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../spec/headers.ts";

/** Number of exchanges that are kept of each kind. */
const keptPerKind = 3;
/** Number of exchanges that are kept for each broken check. */
const keptPerBreach = 5;
/** Maximum number of kept exchanges and of their bytes. */
const maxKept = 1500;
const maxKeptBytes = 64 * 1024 * 1024;

/**
 * Keeps the first exchanges of each kind, and those that show a breach. Its memory is bounded, however long the traffic
 * goes on.
 */
export function keepTraffic() {
  const kept = new Map<string, Exchange>();
  const kinds = new Map<string, number>();
  const shown = new Map<string, number>();
  let bytes = 0;

  const keep = (exchange: Exchange): void => {
    if (kept.has(exchange.id)) return;
    kept.set(exchange.id, exchange);
    bytes += sizeOf(exchange);
  };
  return {
    /** Keeps an exchange if it is one of the first of its kind. */
    offer: (exchange: Exchange): void => {
      const kind = kindOf(exchange);
      const count = kinds.get(kind) ?? 0;
      if (count >= keptPerKind || kept.size >= maxKept || bytes >= maxKeptBytes) return;
      kinds.set(kind, count + 1);
      keep(exchange);
    },
    /** Keeps the exchanges that show a breach, unless enough of them are known. */
    keepProof: (check: string, proofs: readonly Exchange[]): void => {
      const count = shown.get(check) ?? 0;
      if (count >= keptPerBreach) return;
      shown.set(check, count + proofs.length);
      proofs.forEach(keep);
    },
    has: (id: string): boolean => kept.has(id),
    all: (): Exchange[] => [...kept.values()],
  };
}

function sizeOf({ request, answer }: Exchange): number {
  const received = answer.kind === "answered" && answer.body.kind !== "none" ? answer.body.bytes : 0;
  return 2048 + received * 2 + (request.body.kind === "none" ? 0 : request.body.bytes);
}

/**
 * Describes the kind of an exchange: its endpoint, status, key, and the shape of its response. Two exchanges of one kind
 * most likely tell the same.
 */
function kindOf(exchange: Exchange): string {
  const { request, answer, key } = exchange;
  if (answer.kind !== "answered") return "unanswered";
  const { endpoint } = endpointsAtPath(request.url)[0] ?? { endpoint: "other" };
  const body = bodyJson(exchange);
  const names = answer.events.map(({ name }) => name).filter((name, at, all) => name !== all[at - 1]);
  const headers = rateLimitHeaders.map((name) => headerValues(exchange, name).length);
  return JSON.stringify([
    request.method,
    endpoint,
    answer.status,
    key,
    answer.ending.kind,
    headerValues(exchange, "Content-Type"),
    isObject(body) ? Object.keys(body).toSorted() : typeof body,
    getPath(body, "error", "code") ?? null,
    getPath(body, "status") ?? null,
    names.slice(0, 20),
    headers,
  ]);
}

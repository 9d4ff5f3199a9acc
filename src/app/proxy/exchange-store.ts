import { getPath, isObject } from "../../base/json.ts";
import { bodyJson, type Exchange, headerValues } from "../../evidence/exchange.ts";
import { endpointsAtPath } from "../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../spec/headers.ts";

const maxKeptPerKind = 3;
const maxKeptPerBreach = 5;
/** Once the store holds this many exchanges, it adds only exchanges that show a breach. */
const maxKeptExchanges = 1500;
/** Maximum total size of kept exchanges. Further exchanges are kept only if they show a breach. */
const maxKeptBytes = 64 * 1024 * 1024;

/** Creates a bounded store. It keeps the first exchanges of each kind, and the exchanges that show a breach. */
export function createExchangeStore() {
  const kept = new Map<string, Exchange>();
  const kinds = new Map<string, number>();
  const shown = new Map<string, number>();
  let bytes = 0;

  const keep = (exchange: Exchange): void => {
    if (kept.has(exchange.id)) return;
    kept.set(exchange.id, exchange);
    bytes += approximateBytes(exchange);
  };
  return {
    offer: (exchange: Exchange): void => {
      const kind = kindOf(exchange);
      const count = kinds.get(kind) ?? 0;
      if (count >= maxKeptPerKind || kept.size >= maxKeptExchanges || bytes >= maxKeptBytes) return;
      kinds.set(kind, count + 1);
      keep(exchange);
    },
    keepProof: (check: string, proofs: readonly Exchange[]): void => {
      const count = shown.get(check) ?? 0;
      if (count >= maxKeptPerBreach) return;
      shown.set(check, count + proofs.length);
      proofs.forEach(keep);
    },
    has: (id: string): boolean => kept.has(id),
    all: (): Exchange[] => [...kept.values()],
  };
}

function approximateBytes({ request, answer }: Exchange): number {
  const received = answer.kind === "answered" && answer.body.kind !== "none" ? answer.body.bytes : 0;
  return 2048 + received * 2 + (request.body.kind === "none" ? 0 : request.body.bytes);
}

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

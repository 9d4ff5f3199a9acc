import type { Exchange } from "../../evidence/exchange.ts";

/** Creates an exchange with the status 200 and without a body. */
export const anExchange = (id: string, changes: Partial<Exchange> = {}): Exchange => ({
  id,
  key: "key",
  request: { method: "GET", url: "http://127.0.0.1/v1/usage", headers: [], body: { kind: "none" } },
  sentMs: 0,
  clockMs: 0,
  answer: {
    kind: "answered",
    status: 200,
    headers: [],
    headMs: 1,
    endMs: 2,
    body: { kind: "none" },
    ending: { kind: "complete" },
    events: [],
  },
  ...changes,
});

import { defaultKeyTraits, defaultTargetTraits, type Target, type TargetKey } from "../../target/target.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/** Creates a valid key without restrictions. `traits` changes its properties. */
export const aKey = (traits: Partial<TargetKey> = {}): TargetKey => ({
  name: "key",
  key: "pk_correct-horse-9f2c71",
  variable: "CONFORMANCE_API_KEY",
  ...defaultKeyTraits,
  ...traits,
});

/** Creates a target with one key. `traits` changes its properties. */
export const aTarget = (baseUrl: string, traits: Partial<Target> = {}): Target => ({
  name: "target",
  baseUrl,
  keys: { key: aKey() },
  ...defaultTargetTraits,
  ...traits,
});

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

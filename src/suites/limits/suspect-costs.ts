import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import type { ProbeContext } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { endpointOf } from "../shared/all-exchanges.ts";
import { fallBetween } from "../shared/compare-samples.ts";
import { isSuccess } from "../shared/response.ts";
import { countedReadPath, ensureAllowance } from "./exhaust.ts";
import { countedReadOf } from "./key-history.ts";
import { admissibleCosts, type RequestKind } from "./ledger.ts";

/** Watches for requests that lower `Remaining` too far, and repeats them. */
interface CostWatcher {
  readonly note: (exchange: Exchange, again: () => Promise<Exchange | null>) => void;
  /** Repeats requests that cost too much, because another client may have caused a single high cost. */
  readonly repeatSuspects: () => Promise<void>;
}

interface Suspect {
  readonly exchange: Exchange;
  readonly again: () => Promise<Exchange | null>;
}

const maxSuspects = 4;
const repeatCount = 3;

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
  const [from, to] = [sampleOf(before), sampleOf(exchange)];
  const fall = fallBetween(from, to);
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

import { memoizeByPair } from "../../base/memoize.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { StreamEventName } from "../../spec/events.ts";
import type { Member } from "../../run/judge/check-every.ts";
import { maxDurationIn } from "../shared/durations.ts";
import type { AllExchanges } from "../shared/all-exchanges.ts";
import { readEvents } from "./events.ts";

/** An event with readable data. */
interface EventSeen {
  readonly data: Readonly<Record<string, unknown>>;
  /** Maximum time that its stream took, by the target's clock. */
  readonly tookMs: number;
}

/** Returns all events of one name with readable data. */
export function eventCases(
  { everything }: { readonly everything: AllExchanges },
  streams: readonly Exchange[],
  name: StreamEventName,
): Member<EventSeen>[] {
  const tookMs = maxDurationIn(everything.exchanges);
  const cell = { of: "stream events", kind: name };
  return streams.flatMap((exchange) => {
    const longestMs = tookMs(exchange);
    return readEvents(exchange, name).map(({ data }) => ({ cell, proof: exchange, subject: seen(data, longestMs) }));
  });
}

/** One object per event, so that judging it can be cached by identity. */
const seen = memoizeByPair((data: EventSeen["data"], tookMs: number): EventSeen => ({ data, tookMs }));

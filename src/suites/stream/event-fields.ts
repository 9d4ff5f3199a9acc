import { oncePerPair } from "../../base/once-per.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { StreamEventName } from "../../interface/events.ts";
import type { Member } from "../../run/universal.ts";
import { targetTimeIn } from "../answers/durations.ts";
import type { Everything } from "../answers/recorded.ts";
import { readEvents } from "./events.ts";

/** An event whose data can be read. */
interface EventSeen {
  readonly data: Readonly<Record<string, unknown>>;
  /** The longest that its stream took, by the target's clock. */
  readonly tookMs: number;
}

/** Every event of one name in these streams, wherever its data can be read. */
export function eventsSeen(
  { everything }: { readonly everything: Everything },
  streams: readonly Exchange[],
  name: StreamEventName,
): Member<EventSeen>[] {
  const tookMs = targetTimeIn(everything.exchanges);
  const cell = { of: "stream events", kind: name };
  return streams.flatMap((exchange) => {
    const longestMs = tookMs(exchange);
    return readEvents(exchange, name).map(({ data }) => ({ cell, proof: exchange, subject: seen(data, longestMs) }));
  });
}

/** One object for each event, so that what was said of it need not be said again. */
const seen = oncePerPair((data: EventSeen["data"], tookMs: number): EventSeen => ({ data, tookMs }));

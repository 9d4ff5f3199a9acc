import type { Exchange } from "../../evidence/exchange.ts";
import type { RecordingContents } from "../../suites/recorded/recorded-suites.ts";

/** Reasons why an exchange in a recording is not judged, with their texts in the report. */
export const leftOutTexts = {
  "another server": "to another server, or outside the base URL",
  options: "OPTIONS, such as the preflight requests of browsers",
  cache: "answered by a cache (304, an `Age`, or a mark of the recorder)",
  unanswered: "without a response, such as those that the client aborted",
  gateway: "answered by a gateway or a proxy, not by the server",
  unreadable: "entries that cannot be read",
  "own response": "answered by the proxy itself, because the server gave no response",
} as const;

export type LeftOutReason = keyof typeof leftOutTexts;

/** Parts that a recording may lack of an exchange that is judged all the same, with their texts in the report. */
export const missingPartTexts = {
  "no body": "bodies that were not recorded",
  "cut body": "bodies of which only a part was recorded",
  "no end": "streams whose end was not recorded",
  "no times": "exchanges without usable times",
  "hidden key": "requests whose key the recorder hid",
} as const;

export type MissingPart = keyof typeof missingPartTexts;

/** An exchange from a recorded file. It still contains secrets, such as the API key. */
export interface RecordedExchange {
  /**
   * Its times are Unix milliseconds, or milliseconds since the start of the recording if that start is unknown. `key`
   * is the key's name if the file has one.
   */
  readonly exchange: Exchange;
  readonly gaps: readonly MissingPart[];
}

/** Traffic from a recorded file. It still contains secrets, such as API keys. */
export interface Recording {
  /** The format of the file, and the program that wrote it. */
  readonly format: string;
  readonly exchanges: readonly RecordedExchange[];
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
  /** Properties that the recording shows, such as times. Whether it shows `keys` is found out later. */
  readonly facts: Omit<RecordingContents, "keys">;
}

/** Counts how often each item occurs. */
export function countEach<K>(items: Iterable<K>): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

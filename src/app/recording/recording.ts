import type { Exchange } from "../../evidence/exchange.ts";
import type { RecordingContents } from "../../suites/recorded/recorded-suites.ts";

/** Why an exchange of a recording is not judged. */
export const leftOutReasons = {
  "another server": "to another server, or outside the base URL",
  options: "OPTIONS, such as the preflight requests of browsers",
  cache: "answered by a cache (304, an `Age`, or a mark of the recorder)",
  unanswered: "without a response, such as those that the client aborted",
  gateway: "answered by a gateway or a proxy, not by the server",
  unreadable: "entries that cannot be read",
  "own response": "answered by the proxy itself, because the server gave no response",
} as const;

export type LeftOut = keyof typeof leftOutReasons;

/** Texts for the parts of an exchange that a recording may lack, although the exchange is judged. */
export const gapTexts = {
  "no body": "bodies that were not recorded",
  "cut body": "bodies of which only a part was recorded",
  "no end": "streams whose end was not recorded",
  "no times": "exchanges without usable times",
  "hidden key": "requests whose key the recorder hid",
} as const;

export type Gap = keyof typeof gapTexts;

/** An exchange as the file contains it. Its secrets, such as the API key, are not removed yet. */
export interface RecordedExchange {
  /**
   * `sentMs` and the other times are Unix milliseconds if the recording shows its own clock, or else milliseconds since
   * its start. `key` is the name that the file gives, if any.
   */
  readonly exchange: Exchange;
  readonly gaps: readonly Gap[];
}

/** The content of a file with recorded traffic, with its secrets. */
export interface Recording {
  /** The format of the file, and the program that wrote it. */
  readonly format: string;
  readonly exchanges: readonly RecordedExchange[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** Facts about the recording, without `keys`, which is not known yet. */
  readonly facts: Omit<RecordingContents, "keys">;
}

/** Counts how often each item occurs. */
export function tally<K>(items: Iterable<K>): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

import type { DeliveryEvent } from "./event.ts";

/** Writes an event as most services do. Parsing and writing the text again does not change it. */
export const compactJson = (event: object): string => JSON.stringify(event);

/** Writes an event in ASCII, with escapes for all other characters and for slashes. */
export const escapedJson = (event: object): string =>
  JSON.stringify(event)
    .replaceAll("/", String.raw`\/`)
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Writes an event with white space that no serializer writes, and a line feed at the end. */
export const spacedJson = (event: object): string =>
  ` ${JSON.stringify(event, null, "\t").replaceAll('": ', '"  : ').replaceAll("\n", "\r\n")}\n`;

/** Writes an event with all fields in reverse order, and a number with a final zero. */
export const reversedJson = (event: DeliveryEvent): string =>
  JSON.stringify(reversed(event)).replace('"execution_time":1.5', '"execution_time":1.50');

function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, each]): [string, unknown] => [name, reversed(each)]),
  );
}

import type { DeliveryEvent } from "./event.ts";

/** Prints an event as most services do: names in the usual order, no white space. A parser prints it again unchanged. */
export const compactJson = (event: object): string => JSON.stringify(event);

/** Prints an event in ASCII: each character outside it, and each slash, is escaped. */
export const escapedJson = (event: object): string =>
  JSON.stringify(event)
    .replaceAll("/", String.raw`\/`)
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Prints an event with white space that no serialiser writes, and a line feed at the end. */
export const spacedJson = (event: object): string =>
  ` ${JSON.stringify(event, null, "\t").replaceAll('": ', '"  : ').replaceAll("\n", "\r\n")}\n`;

/** Prints an event with all names in reverse order, and a number with a final zero. */
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

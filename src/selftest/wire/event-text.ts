import type { WireEvent } from "./message.ts";
import type { EventChange } from "./mutations/mutation.ts";

const writeEvent = ({ name, data }: WireEvent): string => `event: ${name}\ndata: ${data}\n\n`;

/** Parses one event of a stream. Returns `null` if the lines have no data, as with a comment. */
function eventIn(block: string): WireEvent | null {
  const valuesOf = (field: string): string[] =>
    block
      .split("\n")
      .flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, "")] : []));
  const data = valuesOf("data");
  return data.length === 0 ? null : { name: valuesOf("event").at(-1) ?? "message", data: data.join("\n") };
}

/**
 * Makes a function that changes the text of a stream event by event. That function gets the next chunk of the text, or
 * `null` at the end, and returns the text to send.
 */
export function eventRewriter(change: EventChange): (text: string | null) => string {
  let left = "";
  return (text) => {
    if (text === null) return left + change(null).map(writeEvent).join("");
    const blocks = (left + text).split("\n\n");
    left = blocks.pop() ?? "";
    return blocks
      .map((block) => {
        const event = eventIn(block);
        return event === null ? `${block}\n\n` : change(event).map(writeEvent).join("");
      })
      .join("");
  };
}

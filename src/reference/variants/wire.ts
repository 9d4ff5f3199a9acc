import { gzipSync } from "node:zlib";
import { isObject } from "../../base/json.ts";
import { overrideResult, overrideError } from "../overrides.ts";
import { escapeNonAscii } from "../json-edit.ts";
import { variant, variants } from "../patch.ts";
import type { Header } from "../behaviour/transport.ts";

/** Reverses the order of keys in every object. */
function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, part]) => [key, reverseKeys(part)]),
  );
}

/** Writes JSON with a fraction in every whole number: `1.0`. */
export function withFractions(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? `${value}.0` : String(value);
  if (Array.isArray(value)) return `[${value.map(withFractions).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, part]) => part !== undefined);
  return `{${fields.map(([key, part]) => `${JSON.stringify(key)}:${withFractions(part)}`).join(",")}}`;
}

/** Adds a field to every object, except to maps, whose keys have a meaning. */
function addFields(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((part) => addFields(part));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([key, part]) => [key, addFields(part, key)] as const);
  const isMap = name === "dependencies" || name === "checks";
  return { ...Object.fromEntries(fields), ...(isMap ? {} : { x_vendor: { note: "more", list: [1, null] } }) };
}

export const wireVariants = variants("Endpoints / Common request rules", {
  "keys-reversed": variant("JSON objects have their keys in another order.").by((base) => ({
    jsonText: (value, facts) => base.jsonText(reverseKeys(value), facts),
    eventText: (data) => base.eventText(reverseKeys(data)),
  })),
  "json-indented": variant("JSON has white space.").by(() => ({
    jsonText: (value) => `\n${JSON.stringify(value, null, 2)}\n`,
  })),
  "json-escaped": variant("Characters beyond ASCII are escaped in JSON.").by((base) => ({
    jsonText: (value, facts) => escapeNonAscii(base.jsonText(value, facts)),
    eventText: (data) => escapeNonAscii(base.eventText(data)),
  })),
  "integers-with-fraction": variant("Integers are written as `1.0`.").by(() => ({
    jsonText: withFractions,
    eventText: withFractions,
  })),
  "extra-fields": variant("Every object has a field that the document does not know.").by((base) => ({
    jsonText: (value, facts) => base.jsonText(addFields(value), facts),
    eventText: (data) => base.eventText(addFields(data)),
  })),
  "extra-headers": variant("Responses have headers that the document does not know.").by(
    overrideResult("finalHeaders")((headers) => [
      ...headers,
      ["X-Request-Id", "abc"],
      ["Vary", "Accept, Accept-Encoding"],
      ["Server", "other/1.0"],
    ]),
  ),
  "headers-lower-case": variant("Header names are in lower case.").by(
    overrideResult("finalHeaders")((headers) => headers.map(([name, value]) => [name.toLowerCase(), value])),
  ),
  "headers-upper-case": variant("Header names are in upper case.").by(
    overrideResult("finalHeaders")((headers) => headers.map(([name, value]) => [name.toUpperCase(), value])),
  ),
  "no-date": variant("Responses have no `Date` header.").by(
    overrideResult("finalHeaders")((headers) => headers.filter(([name]) => name.toLowerCase() !== "date")),
  ),
  gzip: variant("JSON is sent gzipped where the client offers it.").by((base) => ({
    encodeBody: (text, acceptEncoding) =>
      /\bgzip\b/.test(acceptEncoding)
        ? { bytes: gzipSync(text), headers: [["Content-Encoding", "gzip"]] }
        : base.encodeBody(text, acceptEncoding),
  })),
  "bodies-chunked": variant("Bodies are sent chunked, without a length.").by(() => ({ bodyFraming: () => "chunked" })),
  "connection-close": variant("The connection is closed after every response.").by(
    overrideResult("finalHeaders")((headers) => [...headers, ["Connection", "close"]]),
  ),
  "content-type-bare": variant("Content types have no charset.").by(() => ({
    contentType: (kind) => (kind === "json" ? "application/json" : "text/event-stream"),
  })),
  "content-type-upper-case": variant("Content types are in other letter case.").by(() => ({
    contentType: (kind) => (kind === "json" ? "Application/JSON;charset=UTF-8" : "Text/Event-Stream;charset=UTF-8"),
  })),
  "answers-late": variant("Responses are delayed and overtake each other.").by(() => ({
    turnsBeforeResponse: () => 30,
  })),
  "stream-needs-accept": variant("A stream is refused with 406 unless `text/event-stream` is accepted.").by(() => ({
    supportsAccept: (endpoint, accept) =>
      endpoint !== "stream" || accept === "" || /text\/event-stream|\*\/\*/.test(accept),
  })),
  "content-type-ignored": variant("A body is read as JSON with any `Content-Type`.").by(() => ({
    acceptsContentType: () => true,
  })),
  "content-type-415": variant("A body that is not declared as JSON responds with 415.").by(
    overrideError(["content-type"], 415, "UNSUPPORTED_MEDIA_TYPE"),
  ),
  "long-agent-ids-unrouted": variant("No path has an agent's id of more than 16 characters.").by((base) => ({
    servedPath: (path) => base.servedPath(path).replace(/^\/v1\/agents\/[^/?]{17,}(?=\/)/, "/v1/nothing"),
  })),
  "date-late": variant("`Date` is two seconds late.").by(
    overrideResult("finalHeaders")((headers) =>
      headers.map(([name, value]): Header => [
        name,
        name === "Date" ? new Date(Date.parse(value) - 2000).toUTCString() : value,
      ]),
    ),
  ),
  "json-with-charset-refused": variant("`application/json` is refused where a charset follows.").by(() => ({
    acceptsContentType: (contentType) => contentType === "application/json",
  })),
});

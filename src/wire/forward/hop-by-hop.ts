/**
 * Headers that are only for one connection, and that a proxy must not pass on, in lower case. Source: RFC 9110, 7.6.1.
 * The forwarder passes trailers on, so `Trailer` is not among them.
 */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Returns the headers to pass on, in their order and spelling. Leaves out hop-by-hop headers, and those that
 * `Connection` names.
 *
 * @param raw names and values in turn, as `rawHeaders` has them
 * @param alsoDropped further names to leave out, in lower case
 */
export function endToEndHeaders(raw: readonly string[], alsoDropped: readonly string[] = []): string[] {
  const named = namedByConnection(raw);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (!hopByHop.has(lower) && !named.includes(lower) && !alsoDropped.includes(lower)) kept.push(name, value);
  }
  return kept;
}

const usualOptions = new Set(["keep-alive", "close", "upgrade", "te", ""]);

/** Returns the header names that `Connection` lists, in lower case, other than the usual options. */
function namedByConnection(raw: readonly string[]): string[] {
  const named: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (raw[at]?.length === 10 && raw[at]?.toLowerCase() === "connection")
      for (const option of (raw[at + 1] ?? "").split(",")) {
        const name = option.trim().toLowerCase();
        if (!usualOptions.has(name)) named.push(name);
      }
  return named;
}

import { encodedSegment } from "../../base/path-segment.ts";

/** Returns an agent's id with a needlessly percent-encoded first character (RFC 3986, 6.2.2.2), or `null`. */
export const encodedFirst = (agent: string): string | null =>
  /^[A-Za-z0-9]/.test(agent)
    ? `%${(agent.codePointAt(0) ?? 0).toString(16).toUpperCase()}${encodedSegment(agent.slice(1))}`
    : null;

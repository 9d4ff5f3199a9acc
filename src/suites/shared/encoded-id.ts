import { encodedSegment } from "../../base/path-segment.ts";

/**
 * Returns an agent's id with its first character percent-encoded (RFC 3986, 6.2.2.2). `null` if that is required
 * anyway.
 */
export const encodedFirst = (agent: string): string | null =>
  /^[A-Za-z0-9]/.test(agent)
    ? `%${(agent.codePointAt(0) ?? 0).toString(16).toUpperCase()}${encodedSegment(agent.slice(1))}`
    : null;

import { encodedSegment } from "../../base/path-segment.ts";

/** Percent-encodes the first character of an agent's id, which is needless but legal (RFC 3986, 6.2.2.2). */
export const encodedFirst = (agent: string): string | null =>
  /^[A-Za-z0-9]/.test(agent)
    ? `%${(agent.codePointAt(0) ?? 0).toString(16).toUpperCase()}${encodedSegment(agent.slice(1))}`
    : null;

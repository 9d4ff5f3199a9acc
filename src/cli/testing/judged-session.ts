import { cliWording } from "../wording.ts";
import { conduct, type Session, type SessionOptions } from "../../app/judge/session.ts";

export type Judged = Extract<Session, { kind: "judged" }>;

type Given = "target" | "suites";

/**
 * A run that has no time to wait and may send what it likes, as its user is shown it.
 *
 * @throws {Error} where the target could not be judged
 */
export async function judgedSession(
  options: Pick<SessionOptions, Given> & Partial<Omit<SessionOptions, Given>>,
  unselected: readonly string[] = [],
): Promise<Judged> {
  const defaults = { maxRequests: Number.POSITIVE_INFINITY, maxWaitMs: 0, wording: cliWording };
  const session = await conduct({ ...defaults, signal: new AbortController().signal, ...options }, unselected);
  if (session.kind !== "judged") throw new Error(session.sentence);
  return session;
}

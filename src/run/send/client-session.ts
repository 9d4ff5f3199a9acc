import type { CommandRun } from "../../evidence/client-call.ts";

/** Runs the command of a client under test against the reference server. */
export interface ClientSession {
  /** The secret with which the client signs requests, if it signs any. */
  readonly signingSecret: string;
  /** Whether a single wrong request breaks its clause. Otherwise it is a note: tests send wrong requests on purpose. */
  readonly isStrict: boolean;
  /**
   * Runs the command without trouble.
   *
   * @throws {TargetUnavailable} if the command fails, takes too long, or sends no request
   */
  readonly runPlainly: () => Promise<CommandRun>;
  /**
   * Runs the command under trouble, as often as it takes to make each kind once.
   *
   * @throws {SkipError} if no trouble is to be made
   */
  readonly runTroubled: () => Promise<readonly CommandRun[]>;
}

import type { CommandRun } from "../../evidence/client-call.ts";

/** Runs the command of a client under test against the reference server. */
export interface ClientSession {
  /** The secret that the client was given. If the client signs requests, it does so with this secret. */
  readonly signingSecret: string;
  /**
   * Whether a single wrong request of the client breaks a clause. If `false`, it is only a note, because tests send
   * wrong requests on purpose.
   */
  readonly isStrict: boolean;
  /**
   * Runs the command once. The server responds to every request as it should.
   *
   * @throws {TargetUnavailable} if the command fails, takes too long, or sends no request
   */
  readonly runPlainly: () => Promise<CommandRun>;
  /**
   * Runs the command several times, while the harness spoils responses on purpose (`429`, resets, odd streams), until
   * each kind of trouble has occurred once.
   *
   * @throws {SkipError} if no trouble is to be made
   */
  readonly runTroubled: () => Promise<readonly CommandRun[]>;
}

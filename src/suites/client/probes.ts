import { type ClientCall, type CommandRun, requestHeaders, targetOf } from "../../evidence/client-call.ts";
import { clientProbe } from "../../run/probe.ts";
import type { ClientSession } from "../../run/send/client-session.ts";
import { headerNames } from "../../spec/headers.ts";
import { requestSignature } from "../authentication/signing.ts";

/** A call of the client, with the two signatures that are valid for it: over its path with the query, and without. */
export interface SignedCall extends ClientCall {
  /**
   * The right values of `X-Signature`. Empty for a request without `X-Timestamp`, or with a body that was too long to
   * record.
   */
  readonly computedSignatures: readonly string[];
}

export interface JudgedRun extends CommandRun {
  readonly calls: readonly SignedCall[];
}

/** Observed runs of the client's command, and whether a single wrong request breaks a clause. */
export interface Observed {
  readonly isStrict: boolean;
  readonly runs: readonly JudgedRun[];
}

/** The positive control: runs the command against a server that causes no trouble. */
export const ranPlainly = clientProbe("the command runs without trouble", async (session): Promise<Observed> =>
  observedIn([await session.runPlainly()], session),
);

export const ranTroubled = clientProbe("the command runs under trouble", async (session): Promise<Observed> =>
  observedIn(await session.runTroubled(), session),
);

// The signatures are computed here and not by a check, because evidence must not contain the secret.
const observedIn = (runs: readonly CommandRun[], { isStrict, signingSecret }: ClientSession): Observed => ({
  isStrict,
  runs: runs.map((run) => ({
    ...run,
    calls: run.calls.map((call) => ({ ...call, computedSignatures: signaturesOf(call, signingSecret) })),
  })),
});

function signaturesOf({ exchange: { request } }: ClientCall, secret: string): string[] {
  const [timestamp] = requestHeaders(request, headerNames.timestamp);
  const { method, body } = request;
  if (timestamp === undefined || (body.kind !== "text" && body.kind !== "none")) return [];
  const path = targetOf(request);
  const text = body.kind === "text" ? body.text : "";
  return [...new Set([path, path.replace(/[?].*/s, "")])].map((each) =>
    requestSignature({ method, path: each, timestamp, body: text }, secret),
  );
}

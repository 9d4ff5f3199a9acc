import { type ClientCall, type CommandRun, requestHeaderValues, requestTarget } from "../../evidence/client-call.ts";
import { clientProbe } from "../../run/probe.ts";
import type { ClientSession } from "../../run/party-session.ts";
import { headerNames } from "../../spec/headers.ts";
import { requestSignature } from "../authentication/signing.ts";

export interface SignedCall extends ClientCall {
  readonly computedSignatures: readonly string[];
}

export interface JudgedRun extends CommandRun {
  readonly calls: readonly SignedCall[];
}

export interface ObservedRuns {
  readonly isStrict: boolean;
  readonly runs: readonly JudgedRun[];
}

/** The positive control: runs the client's command against a server that injects no errors. */
export const ranPlainly = clientProbe("the command runs without trouble", async (session): Promise<ObservedRuns> =>
  withSignatures([await session.runPlainly()], session),
);

export const ranTroubled = clientProbe("the command runs under trouble", async (session): Promise<ObservedRuns> =>
  withSignatures(await session.runTroubled(), session),
);

// Signatures are computed here and not in a check: checks see only evidence, which must not contain the secret.
const withSignatures = (runs: readonly CommandRun[], { isStrict, signingSecret }: ClientSession): ObservedRuns => ({
  isStrict,
  runs: runs.map((run) => ({
    ...run,
    calls: run.calls.map((call) => ({ ...call, computedSignatures: signaturesOf(call, signingSecret) })),
  })),
});

function signaturesOf({ exchange: { request } }: ClientCall, secret: string): string[] {
  const [timestamp] = requestHeaderValues(request, headerNames.timestamp);
  const { method, body } = request;
  if (timestamp === undefined || (body.kind !== "text" && body.kind !== "none")) return [];
  const path = requestTarget(request);
  const text = body.kind === "text" ? body.text : "";
  return [...new Set([path, path.replace(/[?].*/s, "")])].map((each) =>
    requestSignature({ method, path: each, timestamp, body: text }, secret),
  );
}

export interface PlainAndTroubledRuns {
  readonly plain: ObservedRuns;
  readonly troubled: ObservedRuns;
}

export const plainAndTroubled = { plain: ranPlainly, troubled: ranTroubled } as const;

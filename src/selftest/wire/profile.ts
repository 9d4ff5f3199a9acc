import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { runSuites } from "../../run/run.ts";
import { suites } from "../../suites/all.ts";
import { coreMessages } from "../trial.ts";
import { headerIn, type RequestTraits } from "./message.ts";
import { markedSuites, probeHeader } from "./marked-suites.ts";
import { startWireProxy } from "./proxy.ts";

/** The requests of a complete run against a correct server, in the order in which their responses began. */
export interface Profile {
  readonly requests: readonly ProfiledRequest[];
  /** Number of requests of each probe, by the name that `instanceOf` gives it. */
  readonly costs: ReadonlyMap<string, number>;
}

export interface ProfiledRequest {
  readonly traits: RequestTraits;
  /** The probe that sent the request, by the name that `instanceOf` gives it; `null` for the discovery. */
  readonly instance: string | null;
}

/**
 * Runs all suites against the reference server, behind a proxy that changes nothing. Records the probe of each request.
 *
 * @throws {Error} if a clause turns red without any change
 */
export async function takeProfile(): Promise<Profile> {
  const embedded = await startEmbedded();
  const requests: ProfiledRequest[] = [];
  const proxy = await startWireProxy(embedded.target, null, (traits, { headers }) => {
    requests.push({ traits, instance: headerIn(headers, probeHeader) });
  });
  try {
    const result = await runSuites({
      target: proxy.target,
      suites: markedSuites(suites),
      maxRequests: Number.POSITIVE_INFINITY,
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    if (result.kind !== "judged") throw new Error(coreMessages.reason(result.sentence));
    const red = result.judgements.filter(({ finding }) => finding.kind === "breach" || finding.kind === "error");
    if (red.length > 0) throw new Error(`red without any change: ${red.map(({ check }) => check.id).join(", ")}`);
    const byInstance = Map.groupBy(requests, ({ instance }) => instance);
    return {
      requests,
      costs: new Map([...byInstance].flatMap(([name, { length }]) => (name === null ? [] : [[name, length]]))),
    };
  } finally {
    await proxy.close();
    await embedded.close();
  }
}

import type { Network } from "../../base/network/network.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Secret } from "../../evidence/redaction.ts";
import { partyOf } from "../../report/model/report.ts";
import { readBaseUrl, isLoopback } from "../../target/base-url.ts";
import { secretsOfNetwork } from "../../target/network-settings.ts";
import type { Target } from "../../target/target.ts";
import { type OutgoingRequest, openTransport } from "../../wire/transport.ts";
import { redactorWithAlteredKeys, secretsInResponses } from "../judge/redactor.ts";
import { withoutWebhookSecrets } from "../judge/secrets.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { UseCaseError } from "../use-case-error.ts";
import { compareExchanges, hasSignificantDifference } from "./compare-exchanges.ts";
import { findKeys, type KeySources, rebuildRequest } from "./rebuild-request.ts";
import { selectExchanges, type ReplaySelection } from "./select-exchanges.ts";
import { shellVariablesOf } from "../../report/reproduce/curl.ts";

export interface ReplayOptions extends Omit<KeySources, "shellVariableOf"> {
  readonly kept: SavedRun;
  /** Id of a check. The id of a clause stands for all checks of the clause. */
  readonly check: string;
  readonly instance: string | null;
  readonly baseUrl: string | null;
  readonly network: Network;
}

export interface PreparedReplay {
  readonly kept: SavedRun;
  readonly chosen: ReplaySelection;
  readonly requests: readonly OutgoingRequest[];
  readonly baseUrl: string;
  readonly target: Target | null;
  readonly network: Network;
  readonly secrets: readonly Secret[];
  readonly confirmation: ConfirmationReason | null;
}

export interface ReplayResult {
  readonly pairs: readonly ReplayPair[];
  readonly stopped: string | null;
  /** `other`: some requests were not sent, or `hasSignificantDifference` is true for a response. */
  readonly outcome: "alike" | "other" | "not reached";
}

export function prepareReplay(options: ReplayOptions): PreparedReplay {
  const { kept, check, instance, target } = options;
  const { report, evidence } = kept;
  if (partyOf(report) === "client") throw new UseCaseError({ kind: "report on a client" });
  const chosen = selectExchanges(report, evidence, check, instance);
  const baseUrl = chooseBaseUrl(report.target.baseUrl, options.baseUrl, target);
  const keys = findKeys(chosen.exchanges, evidence.exchanges, {
    ...options,
    shellVariableOf: shellVariablesOf(report.target),
  });
  const move = { from: report.target.baseUrl, to: baseUrl };
  const requests = chosen.exchanges.map((exchange) => rebuildRequest(exchange, move, keys));
  const isAddressGiven = options.baseUrl !== null || target !== null;
  const confirmation = confirmationReason(requests, baseUrl, isAddressGiven ? [] : keys.variables);
  const { network } = options;
  const ofProxy = secretsOfNetwork(network).map((value) => ({ name: "proxy", value }));
  return { kept, chosen, requests, baseUrl, target, network, secrets: [...keys.secrets, ...ofProxy], confirmation };
}

export async function resendAndCompare(prepared: PreparedReplay, interrupted: AbortSignal): Promise<ReplayResult> {
  const sent = await resendAll(prepared, interrupted);
  const pairs = redactedPairs(prepared, sent);
  const isReached = !sent.some(isUnreachable);
  const isWhole = isReached && sent.length === prepared.requests.length;
  const stopped = isWhole ? null : describeStop(isReached, interrupted);
  const isOther = pairs.some((pair) => hasSignificantDifference(compareExchanges(pair.kept, pair.now)));
  const outcome = isWhole && !isOther ? "alike" : isReached ? "other" : "not reached";
  return { pairs, stopped, outcome };
}

function chooseBaseUrl(kept: string, given: string | null, target: Target | null): string {
  if (given !== null) return readBaseUrl(given);
  const ofReport = readBaseUrl(kept);
  if (target === null || target.baseUrl === ofReport) return ofReport;
  throw new UseCaseError({ kind: "two addresses", ofReport, ofTarget: target.baseUrl });
}

export interface ReplayPair {
  readonly kept: Exchange;
  readonly now: Exchange;
}

function redactedPairs({ kept, chosen, secrets }: PreparedReplay, sent: readonly Exchange[]): ReplayPair[] {
  const { report, evidence } = kept;
  const { deep } = redactorWithAlteredKeys([...secrets, ...secretsInResponses(sent)]);
  const redacted = deep({ kept: evidence.exchanges, now: sent });
  const all = [...redacted.kept, ...redacted.now];
  const shown = withoutWebhookSecrets({ report, exchanges: all, deliveries: [] }).exchanges;
  const keptById = new Map(shown.slice(0, redacted.kept.length).map((each) => [each.id, each]));
  return shown.slice(redacted.kept.length).flatMap((now, index) => {
    const saved = keptById.get(chosen.exchanges[index]?.id ?? "");
    return saved === undefined ? [] : [{ kept: saved, now }];
  });
}

export type ConfirmationReason =
  /** These requests can change data, and the target is not on loopback. Example of an entry: `POST /v1/webhooks`. */
  | { readonly kind: "changes"; readonly requests: readonly string[] }
  /** The replay would send the keys in `variables` to the report's address. A forged report could name any address. */
  | { readonly kind: "keys"; readonly variables: readonly string[] };

function confirmationReason(
  requests: readonly OutgoingRequest[],
  baseUrl: string,
  variables: readonly string[],
): ConfirmationReason | null {
  if (isLoopback(baseUrl)) return null;
  const changing = requests
    .filter(({ method }) => method !== "GET")
    .map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  if (changing.length > 0) return { kind: "changes", requests: [...new Set(changing)] };
  return variables.length === 0 ? null : { kind: "keys", variables };
}

const maxReplayMs = 5 * 60_000;

async function resendAll(
  { requests, network }: PreparedReplay,
  interrupted: AbortSignal,
): Promise<readonly Exchange[]> {
  const transport = openTransport({ now: () => performance.now(), clockOffsetMs: () => 0, network });
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(maxReplayMs)]);
  const exchanges: Exchange[] = [];
  try {
    for (const request of requests) {
      if (signal.aborted) break;
      const underway = transport.open(request);
      signal.addEventListener("abort", underway.close);
      const exchange = await underway.finished;
      signal.removeEventListener("abort", underway.close);
      if (signal.aborted) break;
      exchanges.push(exchange);
      if (isUnreachable(exchange)) break;
    }
  } finally {
    await transport.close();
  }
  return exchanges;
}

const isUnreachable = ({ answer }: Exchange): boolean =>
  answer.kind === "unanswered" && answer.reason === "unreachable";

function describeStop(isReached: boolean, interrupted: AbortSignal): string {
  if (interrupted.aborted) return "interrupted";
  return isReached ? `${maxReplayMs / 60_000} min have passed` : "the target was not reached";
}

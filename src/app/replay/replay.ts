import type { Network } from "../../base/network/network.ts";
import type { Secret } from "../../evidence/redaction.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { secretsOfNetwork } from "../../target/network.ts";
import type { Target } from "../../target/target.ts";
import type { OutgoingRequest } from "../../wire/transport.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { selectExchanges, type ReplaySelection } from "./select-exchanges.ts";
import { type ConfirmationReason, confirmationReason } from "./confirmation.ts";
import { differences, isSignificant } from "./differences.ts";
import { findKeys, type KeySources } from "./keys.ts";
import { type ReplayPair, redactedPairs } from "./pairs.ts";
import { UseCaseError } from "../use-case-error.ts";
import { rebuildRequest } from "./rebuild-request.ts";
import { isUnreachable, resendAll } from "./resend.ts";

/** Which requests of a kept run are sent again, with which keys, and where to. */
export interface ReplayOptions extends KeySources {
  readonly kept: SavedRun;
  /** Id of a check, or of its clause. */
  readonly check: string;
  /** Which finding of the check; `null`: there is only one. */
  readonly instance: string | null;
  /** `null`: where the report's requests went. */
  readonly baseUrl: string | null;
  /** How the requests get there. */
  readonly network: Network;
}

/** A replay of which nothing was sent yet. */
export interface PreparedReplay {
  readonly kept: SavedRun;
  readonly chosen: ReplaySelection;
  readonly requests: readonly OutgoingRequest[];
  readonly baseUrl: string;
  readonly target: Target | null;
  readonly network: Network;
  readonly secrets: readonly Secret[];
  /** Why somebody has to agree first; `null`: nobody has to. */
  readonly confirmation: ConfirmationReason | null;
}

/** What came of a replay. */
export interface Replayed {
  /** Of all requests, those that were sent, redacted. */
  readonly pairs: readonly ReplayPair[];
  /** Why not all came to the target; `null` where all have. */
  readonly stopped: string | null;
  /** `other`: an answer differs in status, error code or shape, or not all could be sent. */
  readonly outcome: "alike" | "other" | "not reached";
}

/**
 * @throws {UsageProblem} where the report does not hold what it takes
 * @throws {UseCaseError} where something has to be said otherwise
 */
export function prepareReplay(wish: ReplayOptions): PreparedReplay {
  const { kept, check, instance, target } = wish;
  const { report, evidence } = kept;
  const chosen = selectExchanges(report, evidence, check, instance);
  const baseUrl = addressOf(report.target.baseUrl, wish.baseUrl, target);
  const keys = findKeys(chosen.exchanges, evidence.exchanges, wish);
  const move = { from: report.target.baseUrl, to: baseUrl };
  const requests = chosen.exchanges.map((exchange) => rebuildRequest(exchange, move, keys));
  const isAddressGiven = wish.baseUrl !== null || target !== null;
  const confirmation = confirmationReason({ requests, baseUrl, isAddressGiven, variables: keys.variables });
  const { network } = wish;
  const ofProxy = secretsOfNetwork(network).map((value) => ({ name: "proxy", value }));
  return { kept, chosen, requests, baseUrl, target, network, secrets: [...keys.secrets, ...ofProxy], confirmation };
}

/** Sends the requests again, one after another. */
export async function replay(prepared: PreparedReplay, signal: AbortSignal): Promise<Replayed> {
  const { kept, chosen, secrets } = prepared;
  const sent = await resendAll(prepared.requests, prepared.network, signal);
  const pairs = redactedPairs({ ...kept, chosen, sent, secrets });
  const isOther = sent.stopped !== null || pairs.some((pair) => isSignificant(differences(pair.kept, pair.now)));
  const outcome = sent.exchanges.some(isUnreachable) ? "not reached" : isOther ? "other" : "alike";
  return { pairs, stopped: sent.stopped, outcome };
}

/** Keys of one deployment must not go to another by mistake. */
function addressOf(kept: string, given: string | null, target: Target | null): string {
  if (given !== null) return readBaseUrl(given);
  const ofReport = readBaseUrl(kept);
  if (target === null || target.baseUrl === ofReport) return ofReport;
  throw new UseCaseError({ kind: "two addresses", ofReport, ofTarget: target.baseUrl });
}

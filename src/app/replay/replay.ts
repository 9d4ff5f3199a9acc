import { isLoopback, type Network } from "../../base/network/network.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Secret } from "../../evidence/redaction.ts";
import type { ReportFinding } from "../../report/model/finding.ts";
import { partyOf, type Report } from "../../report/model/report.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { secretsOfNetwork } from "../../target/network-settings.ts";
import type { Target } from "../../target/target.ts";
import { openTransport, type OutgoingRequest } from "../../wire/transport.ts";
import { redactorWithAlteredKeys, secretsInResponses } from "../judge/redactor.ts";
import { withoutWebhookSecrets } from "../judge/secrets.ts";
import type { SavedRun } from "../report-folder/saved-report.ts";
import { UseCaseError } from "../use-case-error.ts";
import { compareExchanges, hasSignificantDifference } from "./compare-exchanges.ts";
import { findKeys, type KeySources, rebuildRequest } from "./rebuild-request.ts";
import { shellVariableFinder } from "../../report/reproduce/curl.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import { line, UsageError } from "../../base/line.ts";

export interface ReplaySelection {
  readonly findings: readonly ReportFinding[];
  readonly exchanges: readonly Exchange[];
}

/** Maximum number of exchanges to replay. A finding in a genuine report names far fewer exchanges. */
const maxReplayedExchanges = 100;
const brokenOutcomes: readonly string[] = ["fail", "warning", "note"];

/** Selects the exchanges of a check's findings. If some findings are `fail`, `warning` or `note`, ignores the rest. */
function selectExchanges(report: Report, evidence: Evidence, check: string, instance: string | null): ReplaySelection {
  const findings = findingsOf(report, evidence, check, instance);
  const name = sanitizeLine(check, 60);
  const ids = [...new Set(findings.flatMap((finding) => finding.evidence ?? []))];
  const deliveries = evidence.deliveries.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
  if (deliveries.length > 0)
    throw new UseCaseError({
      kind: "run again",
      check: name,
      what: `deliveries (${joinFirst(deliveries, 3)}), which the target sends: they cannot be sent again from here.`,
      does: "brings them about again",
    });
  const exchanges = evidence.exchanges
    .filter(({ id }) => ids.includes(id))
    .toSorted((one, other) => one.sentMs - other.sentMs);
  const missing = ids.filter((id) => !exchanges.some((each) => each.id === id));
  if (missing.length > 0)
    throw new UseCaseError({
      kind: "run again",
      check: name,
      what: `${joinFirst(
        missing.map((id) => sanitizeLine(id, 40)),
        3,
      )}, which the evidence does not hold as requests.`,
      does: "sends them again",
    });
  if (exchanges.length === 0)
    throw new UsageError(
      line`${name} (${outcomesText(findings)}) names no exchange, so there is nothing to send again. ${replayableChecksText(report, evidence)}`,
    );
  if (exchanges.length > maxReplayedExchanges)
    throw new UsageError(
      line`${name} names ${exchanges.length} exchanges; no more than ${maxReplayedExchanges} are sent again.`,
    );
  return { findings, exchanges };
}

function findingsOf(report: Report, evidence: Evidence, check: string, instance: string | null): ReportFinding[] {
  const exact = report.findings.filter((finding) => finding.check === check);
  const all = exact.length > 0 ? exact : report.findings.filter(({ clause }) => clause === check);
  if (all.length === 0)
    throw new UsageError(
      line`The report has no check ${JSON.stringify(sanitizeLine(check, 60))}. ${replayableChecksText(report, evidence)}`,
    );
  const ofInstance = all.filter((finding) => instance === null || finding.instance === instance);
  if (ofInstance.length === 0)
    throw new UsageError(line`${check} has no instance ${JSON.stringify(instance)}: ${instancesText(all)}.`);
  const broken = ofInstance.filter(({ outcome }) => brokenOutcomes.includes(outcome));
  const chosen = broken.length > 0 ? broken : ofInstance;
  if (new Set(chosen.map((finding) => finding.instance)).size > 1)
    throw new UseCaseError({ kind: "several instances", check, names: instancesText(chosen) });
  return chosen;
}

function instancesText(findings: readonly ReportFinding[]): string {
  const names = [
    ...new Set(findings.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]))),
  ];
  return names.length === 0 ? "it has none" : `There are ${joinFirst(names, 8)}`;
}

const outcomesText = (findings: readonly ReportFinding[]): string =>
  [...new Set(findings.map(({ outcome }) => outcome))].join(", ");

function replayableChecksText({ findings }: Report, { exchanges }: Evidence): string {
  const known = new Set(exchanges.map(({ id }) => id));
  const failed = findings.filter(
    ({ outcome, evidence = [] }) =>
      brokenOutcomes.includes(outcome) && evidence.length > 0 && evidence.every((id) => known.has(id)),
  );
  const ids = [...new Set(failed.map(({ check }) => sanitizeLine(check, 60)))];
  return ids.length === 0
    ? "No failed check of it can be sent again."
    : `Failed checks of it that can be: ${joinFirst(ids, 12)}.`;
}

interface ReplayOptions extends Omit<KeySources, "shellVariableOf"> {
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
  /** `other`: some requests were not sent, or a response differs significantly from the recorded response. */
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
    shellVariableOf: shellVariableFinder(report.target),
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
  const withoutSecrets = withoutWebhookSecrets({ report, exchanges: all, deliveries: [] }).exchanges;
  const keptById = new Map(withoutSecrets.slice(0, redacted.kept.length).map((each) => [each.id, each]));
  return withoutSecrets.slice(redacted.kept.length).flatMap((now, index) => {
    const saved = keptById.get(chosen.exchanges[index]?.id ?? "");
    return saved === undefined ? [] : [{ kept: saved, now }];
  });
}

export type ConfirmationReason =
  /** The user must confirm that `requests`, e.g. `POST /v1/webhooks`, may change data on a non-loopback target. */
  | { readonly kind: "changes"; readonly requests: readonly string[] }
  /**
   * The user must confirm, because the replay sends the keys in `variables` to the report's address. A forged report
   * could name any address.
   */
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

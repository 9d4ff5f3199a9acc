import type { Exchange } from "../../evidence/exchange.ts";
import type { Secret } from "../../evidence/redaction.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/model/report.ts";
import { withoutWebhookSecrets } from "../judge/hook-secrets.ts";
import { redactorOf, secretsInResponses } from "../judge/redactor.ts";
import type { ReplaySelection } from "./select-exchanges.ts";
import type { ResentRequests } from "./resend.ts";

/** A request that was sent again: what was kept of it, and what has come now. Both redacted. */
export interface ReplayPair {
  readonly kept: Exchange;
  readonly now: Exchange;
}

interface Replayed {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly chosen: ReplaySelection;
  readonly sent: ResentRequests;
  readonly secrets: readonly Secret[];
}

/** What was kept and what has come, without keys, nor the secrets that the harness gave to webhooks. */
export function redactedPairs({ report, evidence, chosen, sent, secrets: own }: Replayed): ReplayPair[] {
  const { deep } = redactorOf([...own, ...secretsInResponses(sent.exchanges)]);
  const redacted = deep({ kept: evidence.exchanges, now: sent.exchanges });
  const all = [...redacted.kept, ...redacted.now];
  const shown = withoutWebhookSecrets({ report, exchanges: all, deliveries: [] }).exchanges;
  const keptById = new Map(shown.slice(0, redacted.kept.length).map((each) => [each.id, each]));
  return shown.slice(redacted.kept.length).flatMap((now, index) => {
    const kept = keptById.get(chosen.exchanges[index]?.id ?? "");
    return kept === undefined ? [] : [{ kept, now }];
  });
}

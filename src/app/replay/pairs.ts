import type { Exchange } from "../../evidence/exchange.ts";
import type { Secret } from "../../evidence/redaction.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/report.ts";
import { withoutHookSecrets } from "../judge/hook-secrets.ts";
import { redactorOf, toldSecrets } from "../judge/secrets.ts";
import type { Chosen } from "./choose.ts";
import type { SentAgain } from "./send-again.ts";

/** A request that was sent again: what was kept of it, and what has come now. Both redacted. */
export interface Pair {
  readonly kept: Exchange;
  readonly now: Exchange;
}

interface Replayed {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly chosen: Chosen;
  readonly sent: SentAgain;
  readonly secrets: readonly Secret[];
}

/** What was kept and what has come, without keys, nor the secrets that the harness gave to webhooks. */
export function shownPairs({ report, evidence, chosen, sent, secrets: own }: Replayed): Pair[] {
  const { deep } = redactorOf([...own, ...toldSecrets(sent.exchanges)]);
  const redacted = deep({ kept: evidence.exchanges, now: sent.exchanges });
  const all = [...redacted.kept, ...redacted.now];
  const shown = withoutHookSecrets({ report, exchanges: all, deliveries: [] }).exchanges;
  const keptById = new Map(shown.slice(0, redacted.kept.length).map((each) => [each.id, each]));
  return shown.slice(redacted.kept.length).flatMap((now, index) => {
    const kept = keptById.get(chosen.exchanges[index]?.id ?? "");
    return kept === undefined ? [] : [{ kept, now }];
  });
}

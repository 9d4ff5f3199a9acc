import { clauses } from "../../spec/clauses.ts";
import { publishedEndpoints } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import { probesOf } from "../../run/judge/check.ts";
import { suites } from "../../suites/all.ts";

/**
 * Whether the harness itself writes a text into every report, whatever the target: then it gives no key away, and without it nobody could read the
 * report again. `agent-hosting-conformance` as a key is an example.
 *
 * @param gram some consecutive characters, in lower case
 */
export function isHarnessText(gram: string): boolean {
  own ??= ownText();
  return own.includes(gram);
}

let own: string | null = null;

function ownText(): string {
  const checks = suites.flatMap((suite) => suite.checks);
  const texts = [
    "agent-hosting-conformance/report/1 agent-hosting-conformance/evidence/1 embedded reference server",
    "closed by us unanswered unreachable nonconformant incomplete application/json text/event-stream authorization",
    "durationms fingerprint unselected untestable computedsignature receivedms clockatmostms deliveries",
    JSON.stringify([clauses, publishedEndpoints, headerNames]),
    ...suites.map(({ title }) => title),
    ...checks.flatMap((check) => [...Object.values(probesOf(check.on)), ...check.also].map(({ name }) => name)),
  ];
  return texts.join("\n").toLowerCase();
}

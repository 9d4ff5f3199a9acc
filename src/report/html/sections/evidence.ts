import type { Delivery } from "../../../evidence/delivery.ts";
import type { Exchange } from "../../../evidence/exchange.ts";
import { curlCommand } from "../../reproduce/curl.ts";
import { reproductionCommands } from "../../reproduce/delivery.ts";
import { deliveryLines, exchangeLines } from "../../model/exchange-text.ts";
import { truncate, sanitize, sanitizeLine } from "../../../base/sanitize.ts";
import type { ReportFinding } from "../../model/report.ts";
import { prose } from "../elements.ts";
import { type Html, html } from "../markup.ts";
import type { View } from "../page-context.ts";

const bounds = { bodyCharacters: 3000, bodyLines: 60, headers: 40, headerCharacters: 400 } as const;
const mostNamed = 4;

/**
 * What shows a finding: its first delivery, or else its first exchange, as it went over the wire with commands that bring it about again, and
 * the others by name. By name alone where the finding is no cause for a look, or where the page holds enough already.
 */
export function proofPart(finding: ReportFinding, view: View): Html | null {
  const named = finding.evidence ?? [];
  const exchanges = named.flatMap((id) => view.exchanges.get(id) ?? []);
  const deliveries = named.flatMap((id) => view.deliveries.get(id) ?? []);
  if (exchanges.length + deliveries.length === 0) return null;
  const isShown = finding.outcome !== "pass" && finding.outcome !== "skipped";
  const shown = isShown ? fullProof(exchanges, deliveries, view) : null;
  const first = shown === null ? null : (deliveries[0] ?? exchanges[0])?.id;
  const others = [...deliveries.map(deliveryName), ...exchanges.map(exchangeName)].filter(({ id }) => id !== first);
  return html`${shown}${others.length > 0 && namesPart(others, shown !== null)}`;
}

function fullProof(exchanges: readonly Exchange[], [delivery]: readonly Delivery[], view: View): Html | null {
  const [exchange] = exchanges;
  if (delivery !== undefined) {
    const commands = reproductionCommands(delivery, exchanges, view);
    return wirePart(`Delivery ${delivery.id}`, deliveryLines(delivery, bounds), commands.join("\n"), view);
  }
  if (exchange === undefined) return null;
  return wirePart(`Exchange ${exchange.id}`, exchangeLines(exchange, bounds), curlCommand(exchange, view), view);
}

const mostOfLine = 4000;
const signs = { ">": "sent", "<": "came", "*": "ours" } as const;

function wirePart(title: string, wire: readonly string[], commands: string, view: View): Html | null {
  const lines = wire.map((line) => sanitize(truncate(line, mostOfLine)));
  if (!view.takes(lines.reduce((sum, line) => sum + line.length + 30, commands.length))) return null;
  const marked = lines.map((line, at) => {
    const sign = line[0];
    const role = sign === ">" || sign === "<" || sign === "*" ? signs[sign] : "came";
    return html`${at > 0 && "\n"}<span class="${role}">${line}</span>`;
  });
  return html`<h4>${sanitizeLine(title, 60)}, as it went over the wire</h4>
    <pre class="wire" tabindex="0" role="group" aria-label="${sanitizeLine(title, 60)}">${marked}</pre>
    ${commands !== "" && commandPart(commands)}`;
}

const commandPart = (commands: string): Html =>
  html`<div class="command">
    <div class="command-head">
      <h4>To see it again</h4>
      <button type="button" class="copy" data-copies="command" hidden>Copy the command</button>
    </div>
    <pre class="curl" tabindex="0" role="group" aria-label="Command">${sanitize(commands)}</pre>
  </div>`;

interface Named {
  readonly id: string;
  readonly says: string;
}

function exchangeName({ id, request, answer }: Exchange): Named {
  const came = answer.kind === "answered" ? String(answer.status) : answer.reason;
  return { id, says: `${sanitizeLine(request.method, 20)} ${sanitizeLine(pathOf(request.url), 120)} → ${came}` };
}

const deliveryName = ({ id, hook, attempt }: Delivery): Named => ({
  id,
  says: `delivery ${attempt} to \`${sanitizeLine(hook, 60)}\``,
});

const pathOf = (url: string): string => url.replace(/^[a-z]+:\/\/[^/]*/i, "");

function namesPart(names: readonly Named[], isMore: boolean): Html {
  const shown = names.slice(0, mostNamed);
  const left = names.length - shown.length;
  return html`<p class="small muted names">
    ${isMore ? "Also in evidence.json: " : "In evidence.json: "}${shown.map(
      ({ id, says }, at) => html`${at > 0 && "; "}<code>${sanitizeLine(id, 40)}</code> ${prose(says)}`,
    )}${left > 0 && ` and ${left} more`}
  </p>`;
}

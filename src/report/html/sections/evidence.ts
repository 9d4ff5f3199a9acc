import { type AnchorOf, assignAnchors, prose } from "../elements.ts";
import { sanitize, sanitizeLine, truncate } from "../../../base/sanitize.ts";
import type { Delivery } from "../../../evidence/delivery.ts";
import type { Exchange } from "../../../evidence/exchange.ts";
import type { ReportFinding } from "../../model/finding.ts";
import type { Report, ReportDocument } from "../../model/report.ts";
import {
  findingEvidence,
  type FindingEvidence,
  type EvidenceContext,
  evidenceContextOf,
} from "../../reproduce/finding-evidence.ts";
import { type Html, html } from "../markup.ts";

export interface PageContext extends EvidenceContext {
  readonly report: Report;
  readonly anchorOf: AnchorOf;
  /** Subtracts `characters` from those left for the page. Returns `false`, and subtracts none, if too few are left. */
  readonly tryReserve: (characters: number) => boolean;
}

/** Maximum number of characters of exchanges, deliveries and commands on a page, so that the page opens fast. */
const maxExchangeCharacters = 1_000_000;

export function pageContextOf(document: ReportDocument): PageContext {
  const { report } = document;
  let left = maxExchangeCharacters;
  return {
    ...evidenceContextOf(document),
    report,
    anchorOf: assignAnchors(report.findings),
    tryReserve: (characters) => {
      if (characters > left) return false;
      left -= characters;
      return true;
    },
  };
}

const shownMessageBounds = { bodyCharacters: 3000, bodyLines: 60, headers: 40, headerCharacters: 400 } as const;

export function evidenceSection(finding: ReportFinding, context: PageContext): Html | null {
  const named = finding.evidence ?? [];
  const { exchanges, deliveries } = context.recorded();
  const all = [
    ...named.flatMap((id) => deliveries.get(id) ?? []).map(deliveryName),
    ...named.flatMap((id) => exchanges.get(id) ?? []).map(exchangeName),
  ];
  if (all.length === 0) return null;
  const isShown = finding.outcome !== "pass" && finding.outcome !== "skipped";
  const evidence = isShown ? findingEvidence(finding, context, shownMessageBounds) : null;
  const shown = evidence === null ? null : messageOnWire(evidence, context);
  const others = shown === null ? all : all.filter(({ id }) => id !== evidence?.id);
  return html`${shown}${others.length > 0 && otherMessages(others, shown !== null)}`;
}

const maxLineCharacters = 4000;
const signClasses: Readonly<Record<string, string>> = { ">": "sent", "<": "received", "*": "note" };

function messageOnWire({ kind, id, lines: wire, commands }: FindingEvidence, context: PageContext): Html | null {
  const title = sanitizeLine(`${kind === "delivery" ? "Delivery" : "Exchange"} ${id}`, 60);
  const command = commands.join("\n");
  const lines = wire.map((line) => sanitize(truncate(line, maxLineCharacters)));
  if (!context.tryReserve(lines.reduce((sum, line) => sum + line.length + 30, command.length))) return null;
  const marked = lines.map((line, at) => {
    const role = signClasses[line[0] ?? ""] ?? "received";
    return html`${at > 0 && "\n"}<span class="${role}">${line}</span>`;
  });
  return html`<h4>${title}, as it went over the wire</h4>
    <pre class="wire" tabindex="0" role="group" aria-label="${title}">${marked}</pre>
    ${command !== "" && reproductionCommand(command)}`;
}

const reproductionCommand = (command: string): Html =>
  html`<div class="command">
    <div class="command-head">
      <h4>To see it again</h4>
      <button type="button" class="copy" data-copies="command" hidden>Copy the command</button>
    </div>
    <pre class="curl" tabindex="0" role="group" aria-label="Command">${sanitize(command)}</pre>
  </div>`;

interface MessageReference {
  readonly id: string;
  readonly says: string;
}

function exchangeName({ id, request, answer }: Exchange): MessageReference {
  const result = answer.kind === "answered" ? String(answer.status) : answer.reason;
  const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, "");
  return { id, says: `${sanitizeLine(request.method, 20)} ${sanitizeLine(path, 120)} → ${result}` };
}

const deliveryName = ({ id, hook, attempt }: Delivery): MessageReference => ({
  id,
  says: `delivery ${attempt} to \`${sanitizeLine(hook, 60)}\``,
});

const maxNamedMessages = 4;

function otherMessages(names: readonly MessageReference[], isMore: boolean): Html {
  const shown = names.slice(0, maxNamedMessages);
  const hiddenCount = names.length - shown.length;
  return html`<p class="small muted names">
    ${isMore ? "Also in evidence.json: " : "In evidence.json: "}${shown.map(
      ({ id, says }, at) => html`${at > 0 && "; "}<code>${sanitizeLine(id, 40)}</code> ${prose(says)}`,
    )}${hiddenCount > 0 && ` and ${hiddenCount} more`}
  </p>`;
}

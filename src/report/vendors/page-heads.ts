import { prose } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import type { Verdict } from "../model/report.ts";
import type { VendorSummary } from "./comparison.ts";
import { formatClauseCounts } from "./summary.ts";

const tones: Readonly<Record<Verdict, { readonly tone: string; readonly symbol: string }>> = {
  conformant: { tone: "pass", symbol: "✓" },
  nonconformant: { tone: "fail", symbol: "✕" },
  partial: { tone: "warning", symbol: "◐" },
  incomplete: { tone: "warning", symbol: "◐" },
  unreachable: { tone: "warning", symbol: "–" },
};

/** One vendor at the top of the page: who, verdict, counts. */
export function headPart(head: VendorSummary): Html {
  if (head.kind === "unjudged")
    return html`<li class="head">
      <h2>${head.name}</h2>
      <p class="word">– not judged</p>
      ${head.baseUrl === null ? null : html`<p class="muted"><code>${head.baseUrl}</code></p>`}
      <p>${prose(head.reason)}</p>
    </li>`;
  const { tone, symbol } = tones[head.verdict];
  return html`<li class="head ${tone}">
    <h2>${head.name}</h2>
    <p class="word">${symbol} ${head.verdict}</p>
    ${barOf(head)}
    <p>${formatClauseCounts(head)}</p>
    ${
      head.load === null
        ? null
        : html`<p>Under load: ${head.load.verdict}, ${head.load.broken} broken in ${head.load.runs} runs</p>`
    }
    <p class="muted"><code>${head.baseUrl}</code></p>
    <p class="muted">${factsOf(head)}</p>
  </li>`;
}

const factsOf = ({ tiers, requests, started, isKept }: Extract<VendorSummary, { kind: "judged" }>): string =>
  [
    ...(tiers.length === 0 ? [] : [`tiers ${tiers.join(", ")}`]),
    `${requests} requests`,
    ...(isKept ? [`kept report of ${started.slice(0, 10)}`] : []),
  ].join(" · ");

/** Shares of clauses as a bar; the words beside it say the same. */
function barOf({ clauses }: Extract<VendorSummary, { kind: "judged" }>): Html {
  const { passed, broken, warned, noted, notExercised } = clauses;
  const parts = [
    ["pass", passed],
    ["fail", broken],
    ["warning", warned + noted],
    ["rest", notExercised],
  ] as const;
  const all = Math.max(1, passed + broken + warned + noted + notExercised);
  let from = 0;
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    ${parts.map(([name, count]) => {
      const x = from;
      // What is there at all is seen.
      const width = count === 0 ? 0 : Math.max(1.5, (100 * count) / all);
      from += width;
      return html`<rect class="${name}" x="${x.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="4"></rect>`;
    })}
  </svg>`;
}

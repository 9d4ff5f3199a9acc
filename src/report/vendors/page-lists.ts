import { prose } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import type { VendorComparison } from "./comparison.ts";
import { formatDifference, formatSwitch, switchesLead, switchesTitle } from "./switches.ts";
import { questionsIntro, questionsTitle } from "./summary.ts";

/** A part of the vendors page, with its entry in the page's navigation. */
export interface PagePart {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

/** Renders what to ask each vendor. Empty if there is nothing to ask. */
export function questionsHtml({ vendors, questions }: VendorComparison): PagePart[] {
  const lists = vendors.flatMap(({ name }, at) => {
    const asked = questions[at] ?? [];
    return asked.length === 0
      ? []
      : [
          html`<div class="asked">
            <h3>${name}</h3>
            <ol>
              ${asked.map(({ text }) => html`<li><span class="words">${prose(text, 1500)}</span></li>`)}
            </ol>
          </div>`,
        ];
  });
  if (lists.length === 0) return [];
  const content = html`<section id="questions">
    <h2>${questionsTitle}</h2>
    <p class="muted">${questionsIntro}</p>
    ${lists}
  </section>`;
  return [{ id: "questions", title: questionsTitle, content }];
}

/** Renders what a client meets when it changes vendors. Empty if there is no pair of vendors. */
export function switchesHtml({ switches }: VendorComparison): PagePart[] {
  if (switches.length === 0) return [];
  const content = html`<section id="switches">
    <h2>${switchesTitle}</h2>
    <p class="muted">${prose(switchesLead)}</p>
    ${switches.map(
      (each) =>
        html`<details class="switch">
          <summary>${formatSwitch(each)}</summary>
          <ul>
            ${each.differences.map((difference) => html`<li>${prose(formatDifference(difference), 1500)}</li>`)}
          </ul>
        </details>`,
    )}
  </section>`;
  return [{ id: "switches", title: switchesTitle, content }];
}

import { prose } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import type { VendorComparison } from "./comparison.ts";
import { questionsLead, questionsTitle } from "./summary.ts";

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
              ${asked.map(({ text }) => html`<li>${prose(text, 1500)}</li>`)}
            </ol>
          </div>`,
        ];
  });
  if (lists.length === 0) return [];
  const content = html`<section id="questions">
    <h2>${questionsTitle}</h2>
    <p class="muted">${questionsLead}</p>
    ${lists}
  </section>`;
  return [{ id: "questions", title: questionsTitle, content }];
}

import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";

import { escapeHtml, html } from "./markup.ts";

describe("markup", () => {
  it("escapes texts, keeps markup, leaves out nothing and false, and joins lists", () => {
    const inner = html`<b>${"<script>"}</b>`;
    expect(html`<p title="${`"x'&`}">${inner}${[1, html`<i></i>`, null]}${false}</p>`.source).toBe(
      `<p title="&quot;x&#39;&amp;"><b>&lt;script&gt;</b>1<i></i></p>`,
    );
  });

  it("leaves no character of a text that could end an attribute or begin a tag", () => {
    assert(
      property(string({ unit: "binary" }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']/);
      }),
    );
  });
});

import { createHash } from "node:crypto";

import { escaped, type Html } from "./markup.ts";

/** The content of a page. The page loads nothing over the network, and can be read without its script. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Style sheets in order. There are no style attributes, because the page's Content-Security-Policy forbids them. */
  readonly styles: readonly string[];
  /** The only script; `null` if the page needs none. */
  readonly script: string | null;
}

/**
 * Renders the whole page. Its Content-Security-Policy allows only this style and this script, by hash. So nothing, not even a blank, may be
 * added inside their tags.
 */
export function renderPage({ title, body, styles, script }: Page): string {
  const style = styles.join("\n");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policyOf(style, script))}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    '<link rel="icon" href="data:,">',
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    body.source,
    ...(script === null ? [] : [`<script>${script}</script>`]),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

const policyOf = (style: string, script: string | null): string =>
  [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    script === null ? "script-src 'none'" : `script-src ${hashOf(script)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

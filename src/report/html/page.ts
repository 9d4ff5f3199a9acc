import { createHash } from "node:crypto";

import { escapeHtml, type Html } from "./markup.ts";

/** The content of an HTML page. The page loads nothing over the network, and is readable without its script. */
export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Style sheets, in order. Elements have no style attributes, because the Content-Security-Policy forbids them. */
  readonly styles: readonly string[];
  /** The script of the page; `null` if it needs none. */
  readonly script: string | null;
  /** Path of an Atom feed that belongs to the page. */
  readonly feed?: string;
}

/**
 * Renders an HTML page. Its Content-Security-Policy allows only this style and this script, by their hashes. Therefore nothing may be
 * added inside their tags, not even a space.
 */
export function renderPage({ title, body, styles, script, feed }: PageContent): string {
  const style = styles.join("\n");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(contentSecurityPolicy(style, script))}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    '<link rel="icon" href="data:,">',
    ...(feed === undefined ? [] : [`<link rel="alternate" type="application/atom+xml" href="${escapeHtml(feed)}">`]),
    `<title>${escapeHtml(title)}</title>`,
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

const contentSecurityPolicy = (style: string, script: string | null): string =>
  [
    "default-src 'none'",
    `style-src ${cspHash(style)}`,
    script === null ? "script-src 'none'" : `script-src ${cspHash(script)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const cspHash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

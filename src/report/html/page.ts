import { createHash } from "node:crypto";

import { escapeHtml, type Html } from "./markup.ts";

/** The content of an HTML page. The page loads nothing over the network, and is readable without its script. */
interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Style sheets that follow `baseStyle`. The Content-Security-Policy forbids style attributes, so use classes. */
  readonly styles?: readonly string[];
  readonly script?: string;
  readonly feed?: string;
}

/** Renders an HTML page. Its Content-Security-Policy allows, by hash, only the page's own style and script. */
export function renderPage({ title, body, styles = [], script = "", feed }: PageContent): string {
  const style = [baseStyle, ...styles].join("\n");
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
    ...(script === "" ? [] : [`<script>${script}</script>`]),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

const contentSecurityPolicy = (style: string, script: string): string =>
  [
    "default-src 'none'",
    `style-src ${cspHash(style)}`,
    script === "" ? "script-src 'none'" : `script-src ${cspHash(script)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const cspHash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const baseStyle = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f6f7f9; --raised: #ffffff; --ink: #1b2028; --muted: #545d6a; --line: #dadee5; --strong-line: #8b94a1;
  --accent: #0a57a4; --accent-soft: #e6f0fa; --on-accent: #ffffff; --code: #eef0f3;
  --pass: #14663a; --pass-soft: #e3f4e9;
  --fail: #b01620; --fail-soft: #fdebeb;
  --warning: #824d00; --warning-soft: #fcf0da;
  --note: #0b5a8c; --note-soft: #e1f0f9;
  --observed: #5a3ea6; --observed-soft: #eeeafb;
  --skipped: #545d6a; --skipped-soft: #eceef2;
  --error: #87196b; --error-soft: #fae8f5;
  --shadow: 0 1px 2px rgb(20 30 45 / 8%);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11141a; --panel: #181c24; --raised: #1c212a; --ink: #e8ebf0; --muted: #a5afbd; --line: #313845; --strong-line: #76808f;
    --accent: #82bcff; --accent-soft: #17293f; --on-accent: #0d1722; --code: #242a34;
    --pass: #6bd396; --pass-soft: #13301f;
    --fail: #ff9696; --fail-soft: #401a1d;
    --warning: #f2b95c; --warning-soft: #38290f;
    --note: #79c8f4; --note-soft: #102c3d;
    --observed: #bfabfa; --observed-soft: #272043;
    --skipped: #a5afbd; --skipped-soft: #272d37;
    --error: #f5a3dd; --error-soft: #3b1732;
    --shadow: none;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.55 var(--sans); overflow-wrap: break-word; }
main, .wide { max-width: 68rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2rem); }
h1, h2, h3, h4 { line-height: 1.25; margin: 0; text-wrap: balance; }
h1 { font-size: clamp(1.5rem, 4.5vw, 2.1rem); letter-spacing: -0.015em; }
h2 { font-size: 1.35rem; letter-spacing: -0.01em; }
h3 { font-size: 1.06rem; }
h4 { font-size: 0.95rem; }
p { margin: 0.6em 0; max-width: 75ch; }
ul, ol { padding-left: 1.4em; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre, kbd { font-family: var(--mono); font-size: 0.88em; }
code { background: var(--code); border-radius: 4px; padding: 0.08em 0.32em; overflow-wrap: anywhere; }
pre { margin: 0.5rem 0; padding: 0.8rem 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; overflow: auto;
  line-height: 1.5; tab-size: 2; }
pre code { background: none; padding: 0; font-size: 1em; overflow-wrap: normal; }
.muted { color: var(--muted); }
.small { font-size: 0.88rem; }
.nowrap { white-space: nowrap; }
.lines { white-space: pre-line; }
.visually-hidden { position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; border: 0; }
.skip-link { position: absolute; left: 1rem; top: -5rem; z-index: 10; padding: 0.5rem 1rem; background: var(--accent); color: var(--on-accent);
  border-radius: 0 0 8px 8px; }
.skip-link:focus { top: 0; }
section { margin-block: 2.75rem; }
section > h2 { padding-bottom: 0.45rem; margin-bottom: 0.9rem; border-bottom: 1px solid var(--line); }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.25rem; box-shadow: var(--shadow); }
.banner { border: 1px solid var(--line); border-left: 6px solid var(--muted); border-radius: 12px; padding: 1.1rem 1.35rem;
  background: var(--panel); }
.banner.pass { border-left-color: var(--pass); background: var(--pass-soft); }
.banner.fail { border-left-color: var(--fail); background: var(--fail-soft); }
.banner.warning { border-left-color: var(--warning); background: var(--warning-soft); }
.banner p { margin: 0.3rem 0 0; max-width: none; }
.banner .word { font-size: clamp(1.3rem, 4vw, 1.7rem); font-weight: 700; letter-spacing: -0.01em; margin: 0; }
.banner.pass .word { color: var(--pass); } .banner.fail .word { color: var(--fail); } .banner.warning .word { color: var(--warning); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.6rem, 1fr)); gap: 0.75rem; margin: 1rem 0 0; padding: 0; }
.figures > div { background: var(--raised); border: 1px solid var(--line); border-radius: 10px; padding: 0.65rem 0.9rem; display: flex;
  flex-direction: column-reverse; justify-content: flex-end; }
.figures dt { color: var(--muted); font-size: 0.85rem; line-height: 1.3; }
.figures dd { margin: 0; font-size: 1.4rem; overflow-wrap: normal; font-weight: 650; font-variant-numeric: tabular-nums; line-height: 1.25; }
.badge { display: inline-block; padding: 0.08em 0.6em; border-radius: 999px; font-size: 0.8rem; font-weight: 650; line-height: 1.6;
  white-space: nowrap; color: var(--muted); background: var(--skipped-soft); }
.badge.pass { color: var(--pass); background: var(--pass-soft); }
.badge.fail { color: var(--fail); background: var(--fail-soft); box-shadow: inset 0 0 0 1px currentcolor; }
.badge.warning { color: var(--warning); background: var(--warning-soft); }
.badge.note { color: var(--note); background: var(--note-soft); }
.badge.observed { color: var(--observed); background: var(--observed-soft); }
.badge.error { color: var(--error); background: var(--error-soft); box-shadow: inset 0 0 0 1px currentcolor; }
.table-box { overflow-x: auto; border: 1px solid var(--line); border-radius: 10px; background: var(--raised); max-width: 100%; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
caption { text-align: left; padding: 0.6rem 0.9rem; color: var(--muted); font-size: 0.88rem; }
th, td { padding: 0.5rem 0.9rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { font-size: 0.82rem; color: var(--muted); font-weight: 650; background: var(--panel); white-space: nowrap; }
tbody th { font-weight: 600; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
summary { cursor: pointer; }
summary::marker { color: var(--muted); }
button, input, select { font: inherit; color: inherit; }
button { cursor: pointer; border: 1px solid var(--strong-line); background: var(--raised); border-radius: 8px; padding: 0.3rem 0.8rem; }
button:hover { border-color: var(--accent); color: var(--accent); }
button[aria-pressed="true"] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
input[type="search"], select { border: 1px solid var(--strong-line); background: var(--raised); border-radius: 8px; padding: 0.4rem 0.7rem;
  max-width: 100%; }
[hidden] { display: none !important; }
footer { margin-top: 3rem; padding-block: 1.25rem 2.5rem; border-top: 1px solid var(--line); color: var(--muted); font-size: 0.88rem; }
@media (max-width: 40rem) {
  section { margin-block: 2.1rem; }
  th, td { padding: 0.45rem 0.65rem; }
  .banner, .card { padding: 0.9rem 1rem; }
}
@media print {
  :root { color-scheme: light; --page: #fff; --panel: #f6f6f6; --raised: #fff; --ink: #000; --muted: #444; --line: #bbb; --strong-line: #777;
    --accent: #003d7a; --accent-soft: #eee; --code: #f0f0f0; --pass: #0d5a30; --pass-soft: #fff; --fail: #9c0f19; --fail-soft: #fff;
    --warning: #6f4200; --warning-soft: #fff; --note: #084f7c; --note-soft: #fff; --observed: #4a3191; --observed-soft: #fff; --skipped: #444;
    --skipped-soft: #fff; --error: #74125b; --error-soft: #fff; --shadow: none; }
  html { font-size: 10pt; }
  main, .wide { max-width: none; padding: 0; }
  .badge { border: 1px solid currentcolor; box-shadow: none !important; }
  button, .controls, .skip-link, .no-print { display: none !important; }
  .table-box { overflow: visible; border-radius: 0; }
  pre { white-space: pre-wrap; overflow: visible; overflow-wrap: anywhere; max-height: none !important; }
  tr, figure, .card { break-inside: avoid; }
  h2, h3, h4, summary { break-after: avoid; }
  a { color: inherit; }
}
`;

/** Styles of charts. They must come after `baseStyle`. Lines differ in dashes as well as in colour. */
export const chartStyle = `
:root { --tone-first: #0a57a4; --tone-second: #b4530a; --tone-third: #6a3fb5; --tone-fourth: #0f766e; --tone-good: #14663a; --tone-bad: #b01620;
  --tone-quiet: #6a7380; }
@media (prefers-color-scheme: dark) { :root { --tone-first: #7ab8ff; --tone-second: #ffab5c; --tone-third: #c3a8ff; --tone-fourth: #5cd6c4;
  --tone-good: #6bd396; --tone-bad: #ff8e8e; --tone-quiet: #98a2b0; } }
.charts { margin-block: 0.75rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
.chart { margin: 0; padding: 0.9rem 1rem; border: 1px solid var(--line); border-radius: 12px; background: var(--raised); min-width: 0; }
.chart figcaption { font-size: 0.88rem; color: var(--muted); line-height: 1.4; margin-bottom: 0.6rem; }
.chart figcaption strong { display: block; color: var(--ink); font-size: 0.98rem; }
.chart > svg { display: block; width: 100%; height: auto; overflow: visible; }
.chart text { font: 17px var(--sans); fill: var(--muted); font-variant-numeric: tabular-nums; }
.chart text.y { text-anchor: end; dominant-baseline: central; }
.chart text.x { text-anchor: middle; }
.chart text.end { text-anchor: end; }
.chart text.rule { fill: var(--ink); paint-order: stroke; stroke: var(--raised); stroke-width: 4px; stroke-linejoin: round; }
.chart .grid { stroke: var(--line); fill: none; }
.chart .axis { stroke: var(--strong-line); fill: none; }
.chart .line { fill: none; stroke: currentcolor; stroke-width: 2.2; stroke-linejoin: round; }
.chart .thin { stroke-width: 1.2; }
.chart .dashed { stroke-dasharray: 7 5; stroke-width: 1.6; }
.chart .line.second { stroke-dasharray: 9 3; } .chart .line.third { stroke-dasharray: 3 3; } .chart .line.fourth { stroke-dasharray: 10 3 2 3; }
.chart .dots { fill: none; stroke: currentcolor; stroke-width: 6; stroke-linecap: round; }
.chart .dot { fill: currentcolor; } .chart .ring { fill: var(--raised); stroke: currentcolor; stroke-width: 2; }
.chart .cross { fill: none; stroke: currentcolor; stroke-width: 1.8; }
.chart .bar { fill: currentcolor; } .chart .bar.second, .chart .second .bar { fill-opacity: 0.75; }
.chart .band { fill: currentcolor; fill-opacity: 0.16; stroke: none; }
.chart .first { color: var(--tone-first); } .chart .second { color: var(--tone-second); } .chart .third { color: var(--tone-third); }
.chart .fourth { color: var(--tone-fourth); } .chart .good { color: var(--tone-good); } .chart .bad { color: var(--tone-bad); }
.chart .quiet { color: var(--tone-quiet); }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; list-style: none; margin: 0.5rem 0 0; padding: 0; font-size: 0.85rem; }
.legend svg { width: 22px; height: 12px; margin-right: 0.4rem; vertical-align: -1px; }
.figure-table { margin-top: 0.5rem; font-size: 0.88rem; }
.figure-table table { font-size: 0.84rem; }
.figure-table th, .figure-table td { padding: 0.35rem 0.6rem; white-space: nowrap; }
.figure-table .table-box { margin-top: 0.4rem; max-height: 22rem; overflow: auto; }
@media (max-width: 40rem) { .chart { padding: 0.8rem; } .chart text { font-size: 26px; } .chart .dots { stroke-width: 9; } }
@media print {
  :root { --tone-first: #003d7a; --tone-second: #8a3d00; --tone-third: #4a2c86; --tone-fourth: #0a4f49; --tone-good: #0d5a30; --tone-bad: #9c0f19;
    --tone-quiet: #555; }
  .charts { grid-template-columns: 1fr 1fr; }
  .figure-table { display: none; }
}
`;

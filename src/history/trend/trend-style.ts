/** Styles of the trend page alone. */
export const trendStyle = `
.masthead { padding-block: 2rem 0.5rem; }
.kicker { margin: 0 0 0.3rem; color: var(--muted); font-size: 0.88rem; letter-spacing: 0.02em; }
.masthead p { margin: 0.35rem 0 0; }
.charts { margin-top: 1rem; }
.strip { display: block; width: 24rem; height: 18px; }
.strip .held { fill: var(--pass); fill-opacity: 0.55; }
.strip .broken { fill: none; stroke: var(--fail); stroke-width: 2.4; }
.strip .none { stroke: var(--strong-line); stroke-width: 1.5; }
.says { min-width: 14rem; max-width: 42rem; overflow-wrap: anywhere; }
td.tight { white-space: nowrap; }
.more-nights { margin-top: 0.9rem; }
`;

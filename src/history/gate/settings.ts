/** What a change of a time must show before it fails a night. Tuned on simulated histories: see docs/nightly.md. */
export const timeGate = {
  /** How many of the last nights are taken together: a few show a large change soon, many show a small one. */
  windows: [5, 8, 13],
  /** They are compared with at most, and at least, so many nights before them. */
  mostBaseline: 42,
  leastBaseline: 10,
  /** Least size of a change, as a share of what was usual. */
  leastShare: 0.1,
  /** This share of the nights, those with the least times, must show half of that change as well. */
  usualShare: 0.6,
  /** Least size of a change in milliseconds: smaller ones may be the load engine's own. */
  leastMs: 1,
  /** Least size of a change in standard errors of the noise of the nights before. */
  leastErrors: 4.5,
  /** Least noise that is assumed, as a share: a few nights may agree by chance. */
  leastScatter: 0.01,
  /** Probability, in one night, that chance alone makes the rank test of any figure come true. */
  mostChance: 0.001,
  /** For so many nights after a slow-down was reported, other loads that became slower before the report are counted as part of it. */
  sameChangeNights: 14,
} as const;

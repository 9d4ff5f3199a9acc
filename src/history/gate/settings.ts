/** What it takes for a time to gate. Tuned on simulated histories: see docs/nightly.md. */
export const timeGate = {
  /** The last nights that have to agree: few show a large change soon, many show a small one. */
  windows: [5, 8, 13],
  /** So many nights before them are what they are compared with. */
  mostBaseline: 42,
  leastBaseline: 10,
  /** A change has to be of this share at least, */
  leastShare: 0.1,
  /** half of it without the slowest nights, of which this share is left, */
  usualShare: 0.6,
  /** and of so many milliseconds: less is the load engine's own, */
  leastMs: 1,
  /** and so many standard errors above the noise of the nights before. */
  leastErrors: 4.5,
  /** Noise that is taken for granted, as a share: a few nights may agree by chance. */
  leastScatter: 0.01,
  /** In so many nights out of one, chance alone may make a rank test of any figure come true. */
  mostChance: 0.001,
  /** A load that is found slower so many nights after a slow-down was reported, and became so before that, is part of it. */
  sameChangeNights: 14,
} as const;

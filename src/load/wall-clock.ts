/** Epoch milliseconds that never go back, with fractions. */
export const epochMs = (): number => performance.timeOrigin + performance.now();

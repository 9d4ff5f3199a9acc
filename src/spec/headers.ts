/** Header names of the document, in the document's spelling. Sources: Limits (Scope of limits, 2), Authentication 4, Delivery security 1. */
export const headerNames = {
  rateLimit: "X-RateLimit-Limit",
  rateRemaining: "X-RateLimit-Remaining",
  rateReset: "X-RateLimit-Reset",
  rateResetAfter: "X-RateLimit-Reset-After",
  signature: "X-Signature",
  timestamp: "X-Timestamp",
  deliverySignature: "X-Service-Signature",
} as const;

/**
 * The four rate-limit headers, by the name that their value has in samples and evidence. Requests are whole numbers;
 * times may have decimals.
 */
export const rateHeaders = {
  limit: { header: headerNames.rateLimit, unit: "requests", says: "Requests allowed in the window." },
  remaining: { header: headerNames.rateRemaining, unit: "requests", says: "Requests left in the window." },
  reset: { header: headerNames.rateReset, unit: "Unix seconds", says: "When the window resets, in Unix seconds." },
  resetAfter: { header: headerNames.rateResetAfter, unit: "seconds", says: "Seconds until the window resets." },
} as const;

export type RateValue = keyof typeof rateHeaders;

export const rateValues = Object.keys(rateHeaders) as readonly RateValue[];

export const rateLimitHeaders = rateValues.map((name) => rateHeaders[name].header);

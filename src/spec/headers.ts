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

export const rateLimitHeaders = [
  headerNames.rateLimit,
  headerNames.rateRemaining,
  headerNames.rateReset,
  headerNames.rateResetAfter,
] as const;

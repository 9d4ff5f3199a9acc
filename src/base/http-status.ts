export const is2xx = (status: number | null): status is number => status !== null && status >= 200 && status < 300;

/** Statuses with which a gateway says that its server is unavailable (RFC 9110, 15.6.3 to 15.6.5). */
const gatewayStatuses = new Set<number | null>([502, 503, 504]);

export const isGatewayStatus = (status: number | null): boolean => gatewayStatuses.has(status);

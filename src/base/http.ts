export const is2xx = (status: number | null): status is number => status !== null && status >= 200 && status < 300;

/** Statuses with which a gateway says that its server is unavailable (RFC 9110, 15.6.3 to 15.6.5). */
const gatewayStatuses = new Set<number | null>([502, 503, 504]);

export const isGatewayStatus = (status: number | null): boolean => gatewayStatuses.has(status);

/** Whether a status means that the server refuses the request's key: 401 or 403 (RFC 9110, 15.5.2 and 15.5.4). */
export const isKeyRefusal = (status: number | null): boolean => status === 401 || status === 403;

/** Encodes a text as a URL path segment; `.` and `..` stay as is. A lone surrogate becomes U+FFFD (WHATWG URL, 4.1). */
export const encodedSegment = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Whether each `%` in a text is part of an encoded character. Texts without `%` also pass. */
export function isPercentDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Whether an id can be a segment of a URL path; `.`, `..` and lone surrogates cannot (WHATWG URL, 4.1). */
export const isSegment = (id: string): boolean => !/^\.{1,2}$/.test(id) && id.isWellFormed();

/** Encodes any text as one path segment. Half a surrogate pair becomes U+FFFD, as in every URL (WHATWG URL, 4.1); `encodeURIComponent` alone would throw. */
export const encodedSegment = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Decodes a path segment. A segment that is no percent-encoded UTF-8 stays as it is; `decodeURIComponent` alone would throw. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

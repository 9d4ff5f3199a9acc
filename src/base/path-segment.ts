/**
 * Encodes any text as one path segment. An unpaired surrogate becomes U+FFFD, as in every URL (WHATWG URL, 4.1).
 * Without this step `encodeURIComponent` would throw.
 */
export const encodedSegment = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * Decodes a path segment. A segment that is not percent-encoded UTF-8 stays as it is, where `decodeURIComponent` alone
 * would throw.
 */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

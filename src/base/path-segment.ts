/** Any text as one segment of a path. Half of a surrogate pair becomes U+FFFD, as in every URL (WHATWG URL, 4.1), where `encodeURIComponent` throws. */
export const encodedSegment = (text: string): string => encodeURIComponent(text.toWellFormed());

/** The text of a segment as it was sent or kept; one that is no percent-encoded UTF-8 stays as it is, where `decodeURIComponent` throws. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

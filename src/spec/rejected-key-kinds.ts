/**
 * Kinds of keys that a server must reject: the name for people, and the short name under which a report counts them.
 * Several kinds may share a short name, as all altered keys do. Source: Authentication 1 to 3, API key 1 and 3.
 */
export const rejectedKeyKinds = {
  "no key": "none",
  "a wrong key": "wrong",
  "a key with another last character": "near",
  "a key that is cut off": "near",
  "a key that is lengthened": "near",
  "a key in other letter case": "near",
  "a key of one letter case in the other": "near",
  "a key under another scheme": "scheme",
  "a scheme without a key": "scheme",
  "an expired key": "expired",
  "a temporary key after its life": "outlived",
  "a read-only key": "read-only",
  "a key of another agent": "one agent",
  "a key of another address": "address",
  "a key of another address, for the second time": "address",
} as const;

export type RejectedKeyKind = keyof typeof rejectedKeyKinds;

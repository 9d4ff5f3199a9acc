import type { ClauseId } from "../../interface/clauses.ts";

/** What must come of a kind of key, on every endpoint: 401 (with that code, where one is given), or anything but success. */
export type Expectation =
  | { readonly status: 401; readonly code: "INVALID_API_KEY" | "EXPIRED_API_KEY" | null }
  | { readonly status: "no success" };

interface Row {
  readonly clause: ClauseId;
  readonly expects: Expectation;
}

const refused = { status: 401, code: null } as const;
const wrong = { status: 401, code: "INVALID_API_KEY" } as const;
const expired = { status: 401, code: "EXPIRED_API_KEY" } as const;
const noSuccess = { status: "no success" } as const;

/** Kinds of key that are not good for what is asked, in the words of a person, with what the document says of each. */
export const kindsOfKeys = {
  "no key": { clause: "AUTH-2", expects: refused },
  "a wrong key": { clause: "AUTH-3", expects: wrong },
  "a key with another last character": { clause: "AUTH-5", expects: refused },
  "a key that is cut off": { clause: "AUTH-5", expects: refused },
  "a key that is lengthened": { clause: "AUTH-5", expects: refused },
  "a key in other letter case": { clause: "AUTH-5", expects: refused },
  "a key under another scheme": { clause: "AUTH-6", expects: noSuccess },
  "a scheme without a key": { clause: "AUTH-6", expects: noSuccess },
  "an expired key": { clause: "AUTH-4", expects: expired },
  "a temporary key after its life": { clause: "KEY-3", expects: expired },
  "a read-only key": { clause: "KEY-5", expects: noSuccess },
  "a key of another agent": { clause: "KEY-6", expects: noSuccess },
  "a key of another address": { clause: "KEY-7", expects: noSuccess },
  "a key of another address, for the second time": { clause: "KEY-7", expects: noSuccess },
} as const satisfies Readonly<Record<string, Row>>;

export type KindOfKey = keyof typeof kindsOfKeys;

/** The kinds that a clause speaks of. */
export const kindsOf = (clause: ClauseId): KindOfKey[] =>
  (Object.keys(kindsOfKeys) as KindOfKey[]).filter((kind) => kindsOfKeys[kind].clause === clause);

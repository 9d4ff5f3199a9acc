import { type Section, stated } from "./item.ts";

export const authenticationSections: readonly Section[] = [
  {
    heading: "Authentication",
    items: [
      stated("1", "every request carries the key as a bearer", "AUTH-1", "AUTH-6", "AUTH-7", "REQ-2"),
      stated("1", "how keys are issued", "AUTH-15"),
      stated("2", "restriction by scope", "KEY-5"),
      stated("2", "restriction by agent", "KEY-6"),
      stated("2", "restriction by source address", "KEY-7"),
      stated("3", "missing key: 401", "AUTH-2", "AUTH-8", "AUTH-9"),
      stated("3", "wrong key: 401 `INVALID_API_KEY`", "AUTH-3", "AUTH-5", "AUTH-8", "AUTH-16"),
      stated("3", "expired key: 401 `EXPIRED_API_KEY`", "AUTH-4", "AUTH-8", "KEY-3"),
      stated("4", "signing is optional; its two headers", "AUTH-10"),
      stated("4", "`X-Timestamp`: Unix seconds, a decimal string", "AUTH-10"),
      stated("4", "`X-Signature`: digest and the text that is signed", "AUTH-10"),
      stated("5", "OAuth 2.0 is announced, not available", "AUTH-12"),
      stated("5", "examples of scopes", "AUTH-12"),
      stated("6", "deliveries are signed", "HOOK-21"),
      stated("7", "not shown: status without permission", "AUTH-13"),
      stated("8", "not shown: enabling signing; a bad signature", "AUTH-11"),
      stated("9", "not shown: managing keys over HTTP", "AUTH-14"),
    ],
  },
];

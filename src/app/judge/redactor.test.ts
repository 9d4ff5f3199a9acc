import { describe, expect, it } from "vitest";

import { alteredAuthorizations, alteredKeyKinds } from "../../suites/shared/key-requests/altered-keys.ts";
import { redactorWithAlteredKeys } from "./redactor.ts";

/** Keys with 5 to 20 characters. Within a key, no two adjacent characters occur a second time. */
const keys = Array.from({ length: 16 }, (_, more) => `sk_4mJ9sQ2vXk7TtB1nLw`.slice(0, more + 5));
const padded = ["4mJ9sQ2=", "4mJ9sQ==", "4mJ9sQ2vX="];

describe("the keys that a run makes of a key", () => {
  it.each([...keys, ...padded])("are redacted as the key itself is: %s", (key) => {
    const { text, deep } = redactorWithAlteredKeys([{ name: "main", value: key }]);
    const start = key.slice(0, Math.min(8, key.length - 1)).replace(/=+$/, "");
    for (const kind of alteredKeyKinds) {
      const header = alteredAuthorizations[kind](key) ?? "";
      expect(text(`Authorization: ${header}`), kind).not.toContain(start);
      expect(JSON.stringify(deep({ headers: [["Authorization", header]] })), kind).not.toContain(start);
    }
  });

  it("say which character is missing, so that a command can send them again", () => {
    const { text } = redactorWithAlteredKeys([{ name: "main", value: "sk_4mJ9" }]);
    expect(text("Bearer sk_4mJ")).toBe("Bearer [redacted main, its last character cut off]");
    expect(text("Bearer sk_4mJd")).toBe("Bearer [redacted main, in part or changed]");
  });

  it("leave the harness's own words alone", () => {
    const { text } = redactorWithAlteredKeys([{ name: "main", value: "team1" }]);
    expect(text("a key of the team tier")).toBe("a key of the team tier");
  });
});

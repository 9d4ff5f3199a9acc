import { describe, expect, it } from "vitest";

import { errorCodeOrText, messageOf, traceOf } from "./errors.ts";

describe("a thrown value", () => {
  const missing = Object.assign(new Error("no such file"), { code: "ENOENT" });

  it("is told by its code, its message or its trace", () => {
    expect([errorCodeOrText(missing), errorCodeOrText(new Error("broken")), errorCodeOrText("text")]).toEqual([
      "ENOENT",
      "Error: broken",
      "text",
    ]);
    expect([messageOf(missing), messageOf("text")]).toEqual(["no such file", "text"]);
    expect([traceOf(missing).includes("errors.test.ts"), traceOf(null)]).toEqual([true, "null"]);
  });
});

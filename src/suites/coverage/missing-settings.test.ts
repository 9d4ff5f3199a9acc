import { describe, expect, it } from "vitest";

import { aKey, aTarget } from "../../run/testing/values.ts";
import type { Target } from "../../target/target.ts";
import { keyForUrl, missingSettingFor } from "./missing-settings.ts";

const main = aKey({ name: "main", key: "pk_main", tier: "pro" });
const spare = aKey({ name: "spare", key: "pk_spare", tier: "free" });
const disposable = { ...spare, disposable: true };
const away = "https://agents.example/v1";
const here = "http://127.0.0.1:9/v1";

describe("the key that a request may have in its URL", () => {
  it.each<[name: string, baseUrl: string, keys: Target["keys"], expected: string | null]>([
    ["on loopback, the main key", here, { main, spare }, "main"],
    ["elsewhere, none", away, { main, spare }, null],
    ["elsewhere, the disposable key", away, { main, spare: disposable }, "spare"],
    ["elsewhere, no disposable key that has expired", away, { main, spare: { ...disposable, expired: true } }, null],
  ])("is %s", (_, baseUrl, keys, expected) => {
    const target = aTarget(baseUrl, { keys });
    expect(keyForUrl(target)?.name ?? null).toBe(expected);
    expect(missingSettingFor("key", "in the query", target) === null).toBe(expected !== null);
  });
});

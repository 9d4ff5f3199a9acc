import { describe, expect, it } from "vitest";

import { defaultKeyTraits, defaultTargetTraits, type Target } from "../../target/target.ts";
import { reproductionCommands } from "./present-report.ts";

const load = (scenario: string) => ({ scenario, tier: "pro", engine: "k6" });
const key = { ...defaultKeyTraits, name: "pro", key: "secret-4711", tier: "pro", variable: "ACME_PRO" };
const target: Target = {
  ...defaultTargetTraits,
  name: "Acme",
  baseUrl: "https://api.acme.example/v1",
  keys: { pro: key },
};

describe("how load is sent again by hand", () => {
  it("names the faults of the embedded server, and k6's command on a server that stays", () => {
    const lines = reproductionCommands(load("far-over"), {
      target: null,
      targetFile: null,
      patchFlags: " --fault slow-refusals",
    });
    expect(lines[0]).toBe("npx agent-hosting-conformance load far-over --tier pro --engine k6 --fault slow-refusals");
    expect(lines[1]).toMatch(
      /^k6 run k6\/far-over\.ts -e BASE_URL="\$BASE_URL" .*conformance serve --fault slow-refusals/,
    );
  });

  it("names a target by its address, and its keys by their variables", () => {
    const lines = reproductionCommands(load("far-over"), { target, targetFile: null, patchFlags: "" });
    expect(lines).toEqual([
      "npx agent-hosting-conformance load far-over --tier pro --engine k6 --base-url https://api.acme.example/v1",
      'k6 run k6/far-over.ts -e BASE_URL=https://api.acme.example/v1 -e API_KEY="$ACME_PRO" -e TIER=pro',
    ]);
    expect(lines.join("\n")).not.toContain(key.key);
  });

  it("names the target file where there is one", () => {
    const [first] = reproductionCommands(load("burst"), { target, targetFile: "my acme.json", patchFlags: "" });
    expect(first).toBe("npx agent-hosting-conformance load burst --tier pro --engine k6 --target 'my acme.json'");
  });
});

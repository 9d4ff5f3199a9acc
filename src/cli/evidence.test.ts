import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { serializeEvidence, serializeReport } from "../report/model/report-file.ts";
import { sampleDelivery, sampleExchange, sampleReport, textBody } from "../report/testing/sample.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "evidence-"));
const conformance = commandLineIn(folder);

const secret = "conformance-1f2e-3d4c";
const creation = sampleExchange("x1", {
  method: "POST",
  url: "http://h/v1/webhooks",
  headers: [["Content-Type", "application/json"]],
  body: textBody(JSON.stringify({ url: "http://r/1", secret })),
});
const sample = sampleDelivery("d1");
const delivery = sampleDelivery("d1", { request: { ...sample.request, body: textBody('{"a": "\u001b[31mé\\n"}\n') } });
writeFileSync(join(folder, "report.json"), serializeReport(sampleReport([])));
writeFileSync(
  join(folder, "evidence.json"),
  serializeEvidence({ exchanges: [creation], deliveries: [delivery], probes: [] }),
);

describe("conformance evidence", () => {
  it.each<[string, string[], string]>([
    ["the body of a delivery, byte by byte", ["d1", "--body"], '{"a": "\u001b[31mé\\n"}\n'],
    ["the headers of a request", ["x1", "--headers", "--request"], "Content-Type: application/json\r\n"],
    ["the body of a request", ["x1", "--body", "--request"], `{"url":"http://r/1","secret":"${secret}"}`],
    ["the secret that a request sets", ["x1", "--secret"], secret],
  ])("prints %s", async (_, args, printed) => {
    expect(await conformance(["evidence", ".", ...args])).toEqual({ code: 0, out: printed, err: "" });
    expect((await conformance(["evidence", "report.json", ...args])).out).toBe(printed);
  });

  it("prints both messages as a finding shows them, without control characters", async () => {
    const { code, out } = await conformance(["evidence", ".", "d1"]);
    expect(out).toContain('< {"a": "\\x1b[31mé');
    expect(code).toBe(0);
  });

  it.each<[string, string[], RegExp]>([
    ["an unknown id", [".", "x9"], /^\. has no exchange or delivery "x9"\. It has 1 exchanges? and 1 deliver/],
    ["a folder without evidence", ["none", "x1"], /^The evidence cannot be read: none \(ENOENT\)/],
    ["two parts", [".", "x1", "--body", "--headers"], /^--body and --headers exclude each other/],
    ["a secret that was not set", [".", "d1", "--secret"], /^The request d1 sets no secret/],
  ])("refuses %s", async (_, args, says) => {
    const { code, err } = await conformance(["evidence", ...args]);
    expect(err).toMatch(says);
    expect(code).toBe(2);
  });
});

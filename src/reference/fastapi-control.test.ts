import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { getPath } from "../base/json.ts";
import { pythonJson, withoutPython } from "./testing/clients/python.ts";

const example = fileURLToPath(new URL("../../examples/control/fastapi", import.meta.url));
const contract: unknown = JSON.parse(
  readFileSync(new URL("../../schemas/test-control.openapi.json", import.meta.url), "utf8"),
);

async function responsesWith(token: string): Promise<Readonly<Record<string, unknown>>> {
  return (await pythonJson("fastapi_control.py", example, token)) as Readonly<Record<string, unknown>>;
}

/** Returns the errors of a response's body by the contract, or `null`. */
function breachesOf(call: string, body: unknown): unknown {
  const [method = "", path = ""] = call.split(" ");
  const responses = getPath(contract, "paths", `/test-control${path}`, method, "responses");
  const schema = getPath(responses, "200", "content", "application/json", "schema");
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.validate(schema as object, body) ? null : ajv.errors;
}

describe.skipIf(withoutPython)("the FastAPI example of a test control", () => {
  it("answers as the contract says, and what it controls changes", async () => {
    const responses = await responsesWith("token-of-the-example");
    for (const call of ["get ", "get /agents", "post /keys", "post /trouble", "post /clock/advance"]) {
      const [status, body] = responses[call] as [number, unknown];
      expect([call, status, breachesOf(call, body)]).toEqual([call, 200, null]);
    }
    expect(responses).toMatchObject({
      "get ": [200, { calls: ["clock", "trouble", "keys", "agents"] }],
      invokes: [
        [500, "INTERNAL_ERROR"],
        [200, null],
      ],
      limit: [200, { kind: "limit", seconds: 7 }],
      refused: { error: { status: 429, retry_after: 7 } },
      delayed: [200, null],
      drop: 400,
      expired: [401, "EXPIRED_API_KEY"],
      "absent call": 404,
      unsupported: 400,
      "wrong token": 401,
      "foreign host": 404,
    });
  });

  it("has no call at all without a token in its environment", async () => {
    const responses = await responsesWith("");
    for (const call of ["get ", "get /agents", "post /keys", "post /trouble", "post /clock/advance"])
      expect(responses[call]).toMatchObject([404, {}]);
  });
});

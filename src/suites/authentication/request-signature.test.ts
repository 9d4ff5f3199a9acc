import { describe, expect, it } from "vitest";

import { requestSignature } from "./signing.ts";

const timestamp = "1700000000";

// Made with `printf '…' | openssl dgst -sha256 -hmac SECRET`.
describe("a request's signature agrees with what openssl computes", () => {
  it.each([
    [
      "an empty body",
      "s3cret",
      { method: "GET", path: "/v1/usage", timestamp, body: "" },
      "82f69ba30c5f55972fa1ba992cc905d7c22f5ee73e915d6fbb0ade4c147c329b",
    ],
    [
      "a query string",
      "s3cret",
      { method: "GET", path: "/v1/agents?page=1&limit=2", timestamp, body: "" },
      "8423c39ce121975830b106ab13ba2431ab4d87020b9d7b02c99c83f075b0df3f",
    ],
    [
      "a body of many scripts",
      "s3cret",
      { method: "POST", path: "/v1/agents/echo/invoke", timestamp, body: '{"query":"Grüße, 你好 🙂"}' },
      "86b4244eeaced3e1f44f8bb29bac566f991aedbc6fe06ea7d731f03d658e9c3d",
    ],
    [
      "a secret that is not ASCII",
      "ключ",
      { method: "POST", path: "/v1/agents/echo/invoke", timestamp, body: '{"query":"a\\nb"}' },
      "60031fa1676228c3123326a690bae8d2074dcfac4b2fdfda6d04a3203907e595",
    ],
    [
      "line feeds in the body",
      "s3cret",
      { method: "POST", path: "/v1/agents/echo/invoke", timestamp, body: "line\nline\n" },
      "8f0df1339aa344a3aea895b551cf78c77ff32f3ea060d14299a14ae082d48b85",
    ],
  ])("with %s", (_, secret, request, expected) => {
    expect(requestSignature(request, secret)).toBe(expected);
  });
});

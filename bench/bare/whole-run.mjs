// Benchmark baseline for a whole `conformance run`: undici sends as many requests to fastify, and nothing is judged.
// The file is plain JavaScript, because Node would need time to strip types.
import fastify from "fastify";
import { Pool } from "undici";

const [, , reads, invokes] = process.argv.map(Number);
/** Number of requests in flight. A conformance run has about the same number. */
const atOnce = 10;

const headers = {
  "x-ratelimit-limit": "500",
  "x-ratelimit-remaining": "485",
  "x-ratelimit-reset": "1772600820",
  "x-ratelimit-reset-after": "53",
};
const usage = {
  period: "2026-03-04T05:06:07.000Z",
  requests: { used: 15, limit: 500, remaining: 485 },
  tokens: { used: 1500, limit: 10_000_000, remaining: 9_998_500 },
};
const answer = {
  result: { output: "You said: How are you?" },
  usage: { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 },
  metadata: { execution_time: 0.001, agent_version: "1.0.0", request_id: "req_000001" },
};

const app = fastify();
app.get("/v1/usage", (request, reply) => reply.headers(headers).send(usage));
app.post("/v1/agents/:agent_id/invoke", (request, reply) => reply.headers(headers).send(answer));
const pool = new Pool(await app.listen({ host: "127.0.0.1", port: 0 }), { connections: atOnce });
const requestHeaders = { authorization: "Bearer ah_bench", accept: "application/json" };

async function sendAll(count, send) {
  let remaining = count;
  const worker = async () => {
    while (remaining > 0) {
      remaining -= 1;
      const { body } = await pool.request({ ...send });
      JSON.parse(await body.text());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

await sendAll(reads, { method: "GET", path: "/v1/usage", headers: requestHeaders });
await sendAll(invokes, {
  method: "POST",
  path: "/v1/agents/echo/invoke",
  headers: { ...requestHeaders, "content-type": "application/json" },
  body: JSON.stringify({ query: "How are you?" }),
});
await pool.close();
await app.close();

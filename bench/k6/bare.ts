import http from "k6/http";
import type { Options } from "k6/options";

// Benchmark baseline of the k6 script `scenario.ts`: sends the same requests with as many virtual users, but only
// reads the bodies of the responses.

const { perMinute, concurrent } = JSON.parse(__ENV["LIMITS"] ?? "{}") as {
  readonly perMinute: number;
  readonly concurrent: number;
};

export const options: Options = {
  scenarios: {
    even: { executor: "shared-iterations", vus: concurrent, iterations: perMinute, maxDuration: "2h" },
  },
};

const url = `${__ENV["BASE_URL"]}/agents/echo/invoke`;
const body = JSON.stringify({ query: "How are you under load?" });
const params = {
  headers: {
    Authorization: `Bearer ${__ENV["API_KEY"]}`,
    Accept: "application/json",
    "Content-Type": "application/json",
  },
  responseType: "text",
} as const;

let read = 0;

export default function run(): void {
  const answer = http.post(url, body, params);
  read += answer.body?.length ?? 0;
  if (read === 0) throw new Error("nothing was read");
}

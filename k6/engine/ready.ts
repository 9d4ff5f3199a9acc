import { sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";

import type { Flow } from "./flows.ts";
import type { Settings } from "./settings.ts";

/** Less than this until the end of a window, and we wait for the next one: a count across its end would be another's. */
const ROOM_SECONDS = 15;

/**
 * Runs once, before anything else. By hand: looks whether the target answers, by a health check, which no limit counts, and waits for a new
 * window where this one is about to end. Under `conformance load`: waits for the moment at which all processes start.
 */
export function ready(flows: readonly Flow[], settings: Settings): void {
  if (settings.startAtMs !== null) sleepSeconds((settings.startAtMs - Date.now()) / 1000);
  if (settings.isRecording) return;
  const key = settings.key(flows[0]?.key ?? "main");
  const response = http.get(`${settings.baseUrl}/agents/${encodeURIComponent(settings.agent("answering"))}/health`, {
    headers: { Authorization: `Bearer ${key}` },
    responseType: "text",
  });
  if (response.status !== 200) exec.test.abort(`${settings.baseUrl} cannot be put to the test: ${reasonOf(response)}`);
  const resetAfter = Number(response.headers["X-Ratelimit-Reset-After"]);
  if (resetAfter > 0 && resetAfter <= ROOM_SECONDS) sleepSeconds(resetAfter + 1);
}

function reasonOf(response: { status: number; error: string; body: string | null }): string {
  if (response.status === 0) return `it does not answer (${response.error}). Look at BASE_URL.`;
  if (response.status === 401) return "it answers 401. Look at API_KEY.";
  if (response.status === 404) return "it does not know the agent. Give one that answers with -e AGENT=….";
  return `its health endpoint answers ${response.status}.`;
}

function sleepSeconds(seconds: number): void {
  if (seconds > 0) sleep(seconds);
}

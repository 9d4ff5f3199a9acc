import { sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";

import type { Flow } from "../../scenarios/scenario.ts";
import type { Settings } from "./settings.ts";

/** If the current rate-limit window ends within this time, the setup waits for the next window. */
const MIN_WINDOW_SECONDS = 15;

/**
 * The `setup` function of k6: waits until `startAtMs`, if set. Without `isRecording`, also checks that the target
 * answers, and waits if the rate-limit window ends soon.
 */
export function waitUntilReady(flows: readonly Flow[], settings: Settings): void {
  if (settings.startAtMs !== null) sleepSeconds((settings.startAtMs - Date.now()) / 1000);
  if (settings.isRecording) return;
  const key = settings.key(flows[0]?.key ?? "main");
  const response = http.get(`${settings.baseUrl}/agents/${encodeURIComponent(settings.agent("answering"))}/health`, {
    headers: { Authorization: `Bearer ${key}` },
    responseType: "text",
  });
  if (response.status !== 200) exec.test.abort(`${settings.baseUrl} cannot be tested: ${problemOf(response)}`);
  const resetAfter = Number(response.headers["X-Ratelimit-Reset-After"]);
  if (resetAfter > 0 && resetAfter <= MIN_WINDOW_SECONDS) sleepSeconds(resetAfter + 1);
}

function problemOf(response: { status: number; error: string; body: string | null }): string {
  if (response.status === 0) return `it does not answer (${response.error}). Check BASE_URL.`;
  if (response.status === 401) return "it answers 401. Check API_KEY.";
  if (response.status === 404) return "it does not know the agent. Name one that answers with -e AGENT=….";
  return `its health endpoint answers ${response.status}.`;
}

function sleepSeconds(seconds: number): void {
  if (seconds > 0) sleep(seconds);
}

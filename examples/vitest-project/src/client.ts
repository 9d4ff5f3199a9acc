/** The allowance is used up; `retryAfterSeconds` says when to come again. */
export class RateLimited extends Error {
  override readonly name = "RateLimited";
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`The allowance is used up; come again in ${retryAfterSeconds} s.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Asks an agent, and gives its result. */
export async function ask(baseUrl: string, apiKey: string, agentId: string, query: string): Promise<unknown> {
  const response = await fetch(`${baseUrl}/agents/${agentId}/invoke`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  const body = (await response.json()) as { result?: unknown; error?: { message?: string } };
  if (response.status === 429) throw new RateLimited(Number(response.headers.get("X-RateLimit-Reset-After")));
  if (!response.ok) throw new Error(body.error?.message ?? `The server answered ${response.status}.`);
  return body.result;
}

import { Agent, request } from "undici";

import { unansweredBy } from "../wire/failure.ts";

const deadlineMs = 5000;
/** More than this the receiver itself never answers. */
const mostAnswerBytes = 4096;

/**
 * Sends a request through a public URL and says, in one sentence, why it does not come back to the receiver; `null` where it does.
 *
 * @param url an address that only the receiver answers with `wanted`
 */
export async function whyUnreachable(publicUrl: string, url: string, wanted: string): Promise<string | null> {
  const agent = new Agent({ connect: { timeout: deadlineMs }, headersTimeout: deadlineMs, bodyTimeout: deadlineMs });
  try {
    const { statusCode, body } = await request(url, { dispatcher: agent, signal: AbortSignal.timeout(deadlineMs) });
    let text = "";
    for await (const piece of body) {
      text += String(piece);
      if (text.length > mostAnswerBytes) break;
    }
    if (statusCode === 200 && text === wanted) return null;
    return sentence(publicUrl, `something else answered ${statusCode}`);
  } catch (error) {
    const isOverdue = error instanceof Error && error.name === "TimeoutError";
    const silence = isOverdue ? `no answer within ${deadlineMs / 1000} s` : null;
    return sentence(publicUrl, unansweredBy(error, silence, 0).detail);
  } finally {
    await agent.destroy();
  }
}

const sentence = (publicUrl: string, why: string): string =>
  `\`webhooks.publicUrl\` ${publicUrl} does not lead to the receiver: ${why}. Look whether the tunnel forwards to the address under \`webhooks.listen\`.`;

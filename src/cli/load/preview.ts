import { formatCount } from "../../base/text.ts";
import { formatDuration } from "../../base/duration.ts";
import type { LoadPreview } from "../../app/load/plan-load.ts";
import type { Estimate } from "../../load/trials.ts";

/** A preview lists at most this many trials. */
const maxListed = 40;

/**
 * Formats the preview of a load. For the embedded server, it is one line; for other targets, it lists the trials. Ends with a line feed.
 */
export function formatLoadPreview(outlook: LoadPreview): string {
  const left = outlook.unsendable.map((sentence) => `Not sent: ${sentence}.\n`);
  return [trialsText(outlook), ...left].join("");
}

function trialsText({ baseUrl, keys, estimates, restSeconds }: LoadPreview): string {
  const requests = estimates.reduce((sum, each) => sum + each.requests, 0);
  const seconds = estimates.reduce((sum, each) => sum + each.seconds, restSeconds);
  const isOpen = estimates.some(({ openEnded }) => openEnded.length > 0);
  const total = `${formatCount(estimates.length, "run")}, ${isOpen ? "more than " : ""}${formatCount(requests, "request")}, about ${formatDuration(seconds * 1000)}`;
  if (baseUrl === null) return `Load on the embedded server: ${total}\n`;
  const beyond = estimates.filter(({ isBeyondLimit }) => isBeyondLimit).length;
  const lines = [
    `Load on ${baseUrl} with ${formatCount(keys.length, "key")} (${keys.join(", ")}): ${total}${restSeconds > 0 ? ` (${formatDuration(restSeconds * 1000)} of it waiting for the key's minute)` : ""}`,
    ...estimates.slice(0, maxListed).map(lineOf),
    ...(beyond === 0
      ? []
      : [
          `${formatCount(beyond, "run")} ${beyond === 1 ? "asks" : "ask"} for more than a key's limits admit, on purpose.`,
        ]),
  ];
  return `${lines.join("\n")}\n`;
}

function lineOf({ trial: { scenario, tier, engine }, requests, openEnded, isBeyondLimit, seconds }: Estimate): string {
  const what = [...openEnded, formatCount(requests, "request")].join(", and ");
  const beyond = isBeyondLimit ? ", beyond the limit" : "";
  return `  ${scenario.name.padEnd(23)}${tier.padEnd(11)}${engine.padEnd(11)}${what}${beyond}, ${formatDuration(seconds * 1000)}`;
}

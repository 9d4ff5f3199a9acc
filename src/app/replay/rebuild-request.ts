import type { Exchange, Header } from "../../evidence/exchange.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { OutgoingRequest } from "../../wire/transport.ts";
import { withKeysRestored, type ReplayKeys } from "./find-keys.ts";

/** The base URL in the report, and the base URL to which its requests are sent again. Both end in `/v1`. */
export interface BaseUrlChange {
  readonly from: string;
  readonly to: string;
}

/**
 * Rebuilds a recorded request, so that it can be sent again.
 *
 * @throws {UsageError} if the request was not recorded completely
 */
export function rebuildRequest(kept: Exchange, move: BaseUrlChange, keys: ReplayKeys): OutgoingRequest {
  const { id, key, request } = kept;
  const headers = request.headers.map(([name, value]): Header => {
    const filled = withKeysRestored(value, keys);
    if (filled === null)
      throw cannotRebuild(
        id,
        `its header ${sanitizeLine(name, 60)} holds a secret that is no key of the target, or not as it was issued`,
      );
    return [name, filled];
  });
  return {
    method: request.method,
    url: urlBelowNewBase(kept, move),
    headers,
    body: bodyOf(kept),
    key,
    ...(wasClosedByHarness(kept) ? { closeWhen: (events) => events.length >= Math.max(1, eventsOf(kept)) } : {}),
  };
}

const cannotRebuild = (id: string, why: string): UsageError =>
  new UsageError(line`The request ${sanitizeLine(id, 40)} cannot be sent again: ${why}. Nothing was sent.`);

function bodyOf({ id, request: { body } }: Exchange): string | null {
  if (body.kind === "none") return null;
  if (body.kind === "cut") throw cannotRebuild(id, `of its body of ${body.bytes} bytes only the ends were kept`);
  if (body.kind === "base64") throw cannotRebuild(id, "its body is no UTF-8 text");
  if (/\[redacted [^\]]*\]/.test(body.text)) throw cannotRebuild(id, "a secret was redacted in its body");
  return body.text;
}

/**
 * Returns the URL of a recorded request below the new base URL. Throws if the request went to another host, so that a
 * forged report cannot make the harness send a key there.
 */
function urlBelowNewBase({ id, request: { url } }: Exchange, { from, to }: BaseUrlChange): string {
  if (/\[redacted [^\]]*\]/.test(url)) throw cannotRebuild(id, "a secret was redacted in its address");
  const origin = originOf(url);
  if (origin === null || origin !== originOf(from))
    throw cannotRebuild(
      id,
      `it went to ${sanitizeLine(origin ?? url, 80)}, and the report is of ${sanitizeLine(from, 80)}`,
    );
  const isWithin = url.startsWith(from) && /^([/?#]|$)/.test(url.slice(from.length));
  const again = isWithin ? to + url.slice(from.length) : withNewOrigin(url, to);
  if (originOf(again) !== originOf(to)) throw cannotRebuild(id, "its address leads elsewhere");
  return again;
}

function withNewOrigin(url: string, to: string): string {
  const { pathname, search } = new URL(url);
  return new URL(to).origin + pathname + search;
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

const wasClosedByHarness = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "closed by us";

const eventsOf = ({ answer }: Exchange): number => (answer.kind === "answered" ? answer.events.length : 0);

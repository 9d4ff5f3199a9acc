import { tryParseJson } from "../../base/json.ts";
import { type Delivery, hasValidSignature } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { type CurlOptions, curlCommand, printBodyCommand, readSecretCommand } from "./curl.ts";
import { shellQuote } from "../../base/shell-words.ts";

export interface ReproductionContext extends CurlOptions {
  /** Exchanges by id. */
  readonly exchanges: ReadonlyMap<string, Exchange>;
}

/** So many commands that cause a delivery are shown. */
const mostCauses = 2;

/**
 * Commands that bring about a delivery like this one: the creation of its webhook, what caused it where the finding names that,
 * and, for a signature that does not fit, what computes the right one over the recorded body.
 *
 * @param named exchanges that the finding names
 */
export function reproductionCommands(
  delivery: Delivery,
  named: readonly Exchange[],
  view: ReproductionContext,
): string[] {
  const creation = creationOf(delivery, view.exchanges);
  const causes = named.filter(({ id, request }) => request.method === "POST" && id !== creation?.id);
  return [
    ...(creation === undefined ? [] : creationLines(creation, view)),
    ...causes.slice(0, mostCauses).map((exchange) => curlCommand(exchange, view)),
    ...signatureLines(delivery, view),
  ];
}

/** The request that told the target of the delivery's address. */
function creationOf({ request }: Delivery, exchanges: ReproductionContext["exchanges"]): Exchange | undefined {
  const address = addressOf(request.url);
  return exchanges.values().find((exchange) => {
    const body = bodyOf(exchange);
    return [body["url"], body["webhook_url"]].some((url) => typeof url === "string" && addressOf(url) === address);
  });
}

/** The last two segments of a path: what is before them may be a tunnel's. */
const addressOf = (url: string): string =>
  url
    .replace(/[?#].*/, "")
    .split("/")
    .slice(-2)
    .join("/");

function bodyOf({ request }: Exchange): Readonly<Record<string, unknown>> {
  if (request.method !== "POST" || request.body.kind !== "text") return {};
  const parsed = tryParseJson(request.body.text);
  return typeof parsed === "object" && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : {};
}

const secretVariable = "WEBHOOK_SECRET";

function creationLines(creation: Exchange, view: ReproductionContext): string[] {
  const isSigned = typeof bodyOf(creation)["secret"] === "string";
  return [
    ...(isSigned ? [`${secretVariable}=$(${readSecretCommand(creation.id, view.evidenceFile)})`] : []),
    "# with the address of a receiver of your own in the body:",
    curlCommand(creation, view),
  ];
}

function signatureLines(delivery: Delivery, view: ReproductionContext): string[] {
  const { id, request, computedSignature } = delivery;
  if (computedSignature === null || hasValidSignature(delivery)) return [];
  const { body } = request;
  if (body.kind === "cut") return ["# The body was not kept whole, so no command can compute its signature."];
  const kept =
    body.kind === "none" ? null : printBodyCommand({ list: "deliveries", id, body, evidenceFile: view.evidenceFile });
  const printer = kept ?? `printf %s ${shellQuote(body.kind === "text" ? body.text : "")}`;
  return [
    `# ${headerNames.deliverySignature} has to be what this prints:`,
    `${printer} | openssl dgst -sha256 -hmac "$${secretVariable}"`,
  ];
}

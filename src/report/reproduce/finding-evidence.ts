import { isObject, tryParseJson } from "../../base/json.ts";
import { once } from "../../base/memoize.ts";
import { shellQuote } from "../../base/shell-words.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { type Delivery, hasValidSignature } from "../../evidence/delivery.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { FindingTrial } from "../model/load-results.ts";
import { deliveryLines, exchangeLines, type MessageBounds } from "../model/exchange-text.ts";
import type { ReportFinding } from "../model/finding.ts";
import { partyOf, type ReportDocument } from "../model/report.ts";
import { headerNames } from "../../spec/headers.ts";
import {
  type CurlOptions,
  curlCommand,
  printBodyCommand,
  readSecretCommand,
  shellVariableFinder,
  webhookSecretVariable,
  commandName,
} from "./curl.ts";

export interface EvidenceContext extends CurlOptions {
  /** Returns the recorded messages by id. The first call may be slow, because it redacts the evidence. */
  readonly recorded: () => MessagesById;
  readonly pathOf: (file: string) => string;
  readonly loadCommands: (load: FindingTrial) => readonly string[];
  /** Whether a user can send the requests again. `false` if a client was judged: its reference server has stopped. */
  readonly canSend: boolean;
}

export interface EvidenceOptions {
  readonly folder?: string | null;
  readonly shellVariableOf?: CurlOptions["shellVariableOf"];
  readonly loadCommands?: EvidenceContext["loadCommands"];
}

export function evidenceContextOf(
  { report, evidence }: Pick<ReportDocument, "report"> & { readonly evidence: RecordedMessages | null },
  {
    folder = null,
    shellVariableOf = shellVariableFinder(report.target),
    loadCommands = (load) => [loadCommandLine(load)],
  }: EvidenceOptions = {},
): EvidenceContext {
  const pathOf = (file: string): string =>
    folder === null ? file : `${sanitizeLine(folder).replace(/\/$/, "")}/${file}`;
  return {
    recorded: once(() => ({
      exchanges: new Map((evidence?.exchanges ?? []).map((each) => [each.id, each])),
      deliveries: new Map((evidence?.deliveries ?? []).map((each) => [each.id, each])),
      expiredMs: expiryTimes(evidence?.exchanges ?? []),
    })),
    shellVariableOf,
    loadCommands,
    canSend: partyOf(report) !== "client",
    pathOf,
    evidenceFile: pathOf("evidence.json"),
    connection: report.target.way,
  };
}

interface MessagesById {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery>;
  /** For each key name, the time of the last request that the target rejected because the key had expired. */
  readonly expiredMs: ReadonlyMap<string, number>;
}

export type RecordedMessages = Pick<Evidence, "exchanges" | "deliveries">;

export function loadCommandLine({ scenario, tier, engine }: FindingTrial): string {
  const quoted = (text: string): string => shellQuote(sanitizeLine(text));
  return `${commandName} load ${quoted(scenario)} --tier ${quoted(tier)} --engine ${quoted(engine)}`;
}

export interface FindingEvidence {
  readonly kind: "exchange" | "delivery";
  readonly id: string;
  /** The message, like `curl -v`: a line begins with `>` (sent), `<` (received) or `*` (a note of the harness). */
  readonly lines: readonly string[];
  readonly commands: readonly string[];
}

export function findingEvidence(
  { evidence: named = [] }: ReportFinding,
  context: EvidenceContext,
  bounds: Partial<MessageBounds>,
): FindingEvidence | null {
  const recorded = context.recorded();
  const exchanges = named.flatMap((id) => recorded.exchanges.get(id) ?? []);
  const delivery = named.map((id) => recorded.deliveries.get(id)).find((each) => each !== undefined);
  if (delivery !== undefined)
    return {
      kind: "delivery",
      id: delivery.id,
      lines: deliveryLines(delivery, bounds),
      commands: deliveryCommands(delivery, exchanges, context),
    };
  const [exchange] = exchanges;
  if (exchange === undefined) return null;
  return {
    kind: "exchange",
    id: exchange.id,
    lines: exchangeLines(exchange, bounds),
    commands: context.canSend ? [...expiredKeyNote(exchange, recorded), curlCommand(exchange, context)] : [],
  };
}

function expiredKeyNote(exchange: Exchange, { expiredMs }: MessagesById): string[] {
  const hasExpired = !isRejectedAsExpired(exchange) && (expiredMs.get(exchange.key ?? "") ?? 0) > exchange.sentMs;
  return hasExpired ? ["# This key has expired since: use another one."] : [];
}

const isRejectedAsExpired = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.body.kind === "text" && answer.body.text.includes("EXPIRED_API_KEY");

const expiryTimes = (exchanges: readonly Exchange[]): MessagesById["expiredMs"] =>
  new Map(
    exchanges
      .filter(isRejectedAsExpired)
      .flatMap(({ key, sentMs }): [string, number][] => (key === null ? [] : [[key, sentMs]]))
      .toSorted(([, one], [, other]) => one - other),
  );

const maxRepeatedRequests = 2;

/**
 * Returns shell commands that cause a delivery again. They create its webhook, and repeat up to two POST requests that
 * the finding names. For a wrong signature, one more command prints the right one.
 */
export function deliveryCommands(delivery: Delivery, named: readonly Exchange[], context: EvidenceContext): string[] {
  const creation = findCreation(delivery, context.recorded().exchanges);
  const causes = named.filter(({ id, request }) => request.method === "POST" && id !== creation?.id);
  return [
    ...(creation === undefined ? [] : creationCommands(creation, context)),
    ...causes.slice(0, maxRepeatedRequests).map((exchange) => curlCommand(exchange, context)),
    ...signatureCommands(delivery, context),
  ];
}

function findCreation({ request }: Delivery, exchanges: MessagesById["exchanges"]): Exchange | undefined {
  const address = webhookPathOf(request.url);
  return exchanges.values().find((exchange) => {
    const body = parsedBodyOf(exchange);
    return [body["url"], body["webhook_url"]].some((url) => typeof url === "string" && webhookPathOf(url) === address);
  });
}

/**
 * Returns the last two path segments of a webhook's URL, a token and a name. They identify the webhook: a tunnel
 * between target and receiver may change the rest of the URL.
 */
const webhookPathOf = (url: string): string =>
  url
    .replace(/[?#].*/, "")
    .split("/")
    .slice(-2)
    .join("/");

function parsedBodyOf({ request }: Exchange): Readonly<Record<string, unknown>> {
  if (request.method !== "POST" || request.body.kind !== "text") return {};
  const parsed = tryParseJson(request.body.text);
  return isObject(parsed) ? parsed : {};
}

function creationCommands(creation: Exchange, context: EvidenceContext): string[] {
  const isSigned = typeof parsedBodyOf(creation)["secret"] === "string";
  return [
    ...(isSigned ? [`${webhookSecretVariable}=$(${readSecretCommand(creation.id, context.evidenceFile)})`] : []),
    "# with the address of a receiver of your own in the body:",
    curlCommand(creation, context),
  ];
}

function signatureCommands(delivery: Delivery, { evidenceFile }: EvidenceContext): string[] {
  const { id, request, computedSignature } = delivery;
  if (computedSignature === null || hasValidSignature(delivery)) return [];
  const { body } = request;
  if (body.kind === "cut") return ["# The body was not kept whole, so no command can compute its signature."];
  const recorded = body.kind === "none" ? null : printBodyCommand({ list: "deliveries", id, body, evidenceFile });
  const printBody = recorded ?? `printf %s ${shellQuote(body.kind === "text" ? body.text : "")}`;
  return [
    `# ${headerNames.deliverySignature} has to be what this prints:`,
    `${printBody} | openssl dgst -sha256 -hmac "$${webhookSecretVariable}"`,
  ];
}

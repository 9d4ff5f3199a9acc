import { basename } from "node:path";
import { randomBytes } from "node:crypto";

import { assertOpenFiles } from "../../base/harness-limit.ts";
import type { UsageError } from "../../base/line.ts";
import { requestHeaderValues } from "../../evidence/exchange.ts";
import type { RunStage } from "../../evidence/client-call.ts";
import { type Gateway, openGateway } from "../../gateway/gateway.ts";
import {
  type Reference,
  type Patch,
  systemClock,
  type ReferenceKey,
  startReference,
} from "../../reference/reference.ts";
import { runClient } from "../../run/run-party.ts";
import type { RunResult } from "../../run/run-result.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { newestRequirementsOfAnyParty } from "../../spec/clause.ts";
import { suitesOfParty } from "../../suites/all.ts";
import { defaultKeyTraits, defaultTargetTraits, type Target } from "../../target/target.ts";
import { type JudgedTarget, progressOptions, type RunEvents } from "../judge/judge-target.ts";
import { reportRun } from "../judge/run-and-report.ts";
import { looksRandom } from "../judge/secrets.ts";
import { type ClientSettings, type CommandLine, createClientSession } from "./client-session.ts";
import { isLoopback } from "../../base/network/network.ts";
import { publishedTiers } from "../../spec/tiers.ts";

export interface ClientVariables {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly agent: string;
  readonly signingSecret: string;
}

export interface JudgeClientOptions extends Omit<ClientSettings, "environment"> {
  readonly variables: ClientVariables;
  /** The gateway's certificate chain and private key as PEM, and the certificate's host name; `null` for HTTP. */
  readonly tls: { readonly cert: string; readonly key: string; readonly host: string } | null;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe"> & {
    readonly onRun?: (stage: RunStage, number: number) => void;
  };
  readonly onFailure: (output: string) => void;
}

/** Sockets that a run may need at once. Each request uses 3: one to the client, and two (both ends) to the server. */
const maxSockets = 256;

/** Runs a client's command against the reference server. Judges the client's requests by the clauses for clients. */
export async function judgeClient(options: JudgeClientOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxSockets);
  const startMs = performance.now();
  const reference = await startClientServer();
  const [issued] = reference.keys;
  const key = { name: "client key", text: issued?.key ?? "" };
  const { tls } = options;
  const gateway = await openGateway({
    upstream: reference.baseUrl,
    tls,
    host: tls?.host ?? "127.0.0.1",
    key,
    now: () => performance.now() - startMs,
  });
  try {
    return await judgeWithServers(options, reference, gateway, key);
  } finally {
    await gateway.close();
    await reference.close();
  }
}

async function judgeWithServers(
  options: JudgeClientOptions,
  reference: Reference,
  gateway: Gateway,
  key: { readonly name: string; readonly text: string },
): Promise<JudgedTarget> {
  const { messages, signal, progress, variables, troubles, seed } = options;
  const target: Target = {
    ...defaultTargetTraits,
    name: clientName(options.command),
    baseUrl: gateway.baseUrl,
    keys: { [key.name]: { ...defaultKeyTraits, name: key.name, key: key.text, variable: "AGENT_API_KEY" } },
    signing: { secret: reference.signingSecret },
  };
  progress.onStart?.(target);
  const started = new Date();
  const environment = {
    [variables.baseUrl]: gateway.baseUrl,
    [variables.apiKey]: key.text,
    [variables.agent]: reference.agents.answering,
    [variables.signingSecret]: reference.signingSecret,
  };
  let unstartable: UsageError | null = null;
  const result = await runClient({
    target,
    signal,
    suites: suitesOfParty("client"),
    ...progressOptions(progress),
    open: (tools) =>
      createClientSession(
        { ...options, environment },
        {
          ...tools,
          gateway,
          signingSecret: reference.signingSecret,
          onRun: (stage, number) => progress.onRun?.(stage, number),
          onUnstartable: (error) => void (unstartable = error),
          onFailure: (output) => options.onFailure(output.replaceAll(key.text, `[redacted ${key.name}]`)),
        },
      ),
  });
  // TypeScript does not see that a callback sets this variable, and so infers the type `null`.
  if ((unstartable as UsageError | null) !== null) throw unstartable as unknown as UsageError;
  const facts = {
    party: "client",
    requirements: newestRequirementsOfAnyParty,
    started,
    messages,
    ...(troubles.length > 0 && { trouble: { seed, kinds: troubles } }),
  } as const;
  const keys = { ...target.keys, ...foreignKeysIn(result, key.text) };
  return { ...reportRun(result, facts, { target: { ...target, keys }, signal }), target };
}

/**
 * Returns a command's program and script, such as `python tests.py`. Leaves out other arguments, which may be secret.
 */
export function clientName([program, ...args]: CommandLine): string {
  const script = args.find((each) => /^[\w./-]+[.]\w+$/.test(each) && !each.startsWith("-"));
  return [basename(program), ...(script === undefined ? [] : [basename(script)])].join(" ");
}

const secretHeaders = ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"] as const;

function foreignKeysIn({ exchanges }: Pick<RunResult, "exchanges">, given: string): Target["keys"] {
  const values = exchanges.flatMap(({ request }) =>
    secretHeaders.flatMap((name) => requestHeaderValues(request, name)),
  );
  const words = values
    .flatMap((value) => value.split(/[\s;=,]+/))
    .filter((word) => looksRandom(word) && !word.includes(given));
  return Object.fromEntries(
    [...new Set(words)].map((text, at) => {
      const name = at === 0 ? "another key" : `another key, ${at + 1}`;
      return [name, { ...defaultKeyTraits, name, key: text, variable: "" }];
    }),
  );
}

/** Rate limits that no client reaches, so that a client gets a 429 only if the harness injects a 429. */
const unreachableLimits = { perHour: 1e9, perMinute: 1e9, concurrent: 1e6, burst: 1e9, tokensPerMonth: 1e12 };

const variantTraits = { kind: "variant", breaks: [], mayAlsoBreak: [], detectedBy: "suites" } as const;

/** Limits webhook deliveries to loopback, so that no client can make the server send requests elsewhere. */
const deliversToLoopback: Patch = {
  ...variantTraits,
  name: "delivers-to-loopback",
  section: "Events / Delivery security and policy",
  summary: "Only receivers on loopback get deliveries.",
  override: (base) => ({ acceptsEvent: (load) => isLoopback(load.url) && base.acceptsEvent(load) }),
};

/** Accepts a request signature with or without the query string, because the interface document allows both. */
const acceptsBothSignatures: Patch = {
  ...variantTraits,
  name: "signatures-with-and-without-query",
  section: "Authentication",
  summary: "A signature may cover the path with or without its query.",
  override: (base) => ({
    acceptsSignature: (request, signed, secret, nowMs) => {
      const bare = { ...request, path: request.path.replace(/[?].*/s, "") };
      return [signed, () => base.signedBytes(bare)].some((bytes) =>
        base.acceptsSignature(request, bytes, secret, nowMs),
      );
    },
  }),
};

function startClientServer(): Promise<Reference> {
  const key: ReferenceKey = {
    name: "client key",
    key: `ah_client_${randomBytes(18).toString("base64url")}`,
    tier: "enterprise",
    expiresInSeconds: null,
    scope: "full",
    agents: null,
    allowedIps: null,
    tokensUsedBefore: 0,
  };
  return startReference({
    clock: systemClock(),
    patches: [deliversToLoopback, acceptsBothSignatures],
    keys: [key],
    tiers: { ...publishedTiers, enterprise: unreachableLimits },
  });
}

import { basename } from "node:path";

import { assertOpenFiles } from "../../base/open-files.ts";
import type { UsageError } from "../../base/usage-error.ts";
import { requestHeaderValues, type RunStage } from "../../evidence/client-call.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { openGateway } from "../../gateway/gateway.ts";
import type { Reference } from "../../reference/reference.ts";
import { runClient } from "../../run/run-client.ts";
import type { RunResult } from "../../run/run-result.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { latestRequirements } from "../../spec/requirements.ts";
import { suitesOfParty } from "../../suites/all.ts";
import { defaultKeyTraits, defaultTargetTraits, type Target } from "../../target/target.ts";
import type { JudgedTarget, RunEvents } from "../judge/judge.ts";
import { redactRun } from "../judge/redacted-run.ts";
import { looksRandom } from "../judge/secrets.ts";
import { packageVersion } from "../../base/package-root.ts";
import { startClientServer } from "./client-server.ts";
import { type ClientSettings, openSession } from "./session.ts";

/** Names of the environment variables in which the client gets what it needs. */
export interface ClientVariables {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Gets the id of an agent that answers. */
  readonly agent: string;
  /** Gets the secret that signs requests. */
  readonly signingSecret: string;
}

export interface JudgeClientOptions extends Omit<ClientSettings, "environment"> {
  readonly variables: ClientVariables;
  /** Certificate chain and key for HTTPS, both PEM, and the host that the certificate names. `null`: HTTP. */
  readonly tls: { readonly cert: string; readonly key: string; readonly host: string } | null;
  readonly messages: Messages;
  /** Ends the run early. The evidence so far is judged. */
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe"> & {
    readonly onRun?: (stage: RunStage, number: number) => void;
  };
  /** Called with the end of the command's output, without secrets, if the command fails without trouble. */
  readonly onFailure: (output: string) => void;
}

/** Connections that a client may open at once: each takes two file descriptors here. */
const maxConnections = 256;

/**
 * Judges a client by the clauses that bind clients: runs its command against the reference server. Writes no files.
 *
 * @throws {UsageError} if the command cannot be started
 * @throws {HarnessLimit} if this process cannot open as many connections as the client may need
 */
export async function judgeClient(options: JudgeClientOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxConnections);
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
    // A target that describes the client, so that its key and its secret are redacted everywhere.
    const target: Target = {
      ...defaultTargetTraits,
      name: nameOfClient(options.command),
      baseUrl: gateway.baseUrl,
      keys: { [key.name]: { ...defaultKeyTraits, name: key.name, key: key.text, variable: "AGENT_API_KEY" } },
      signing: { secret: reference.signingSecret },
    };
    return await judgeAt(target, options, { reference, gateway, key });
  } finally {
    await gateway.close();
    await reference.close();
  }
}

interface Servers {
  readonly reference: Reference;
  readonly gateway: Awaited<ReturnType<typeof openGateway>>;
  readonly key: { readonly name: string; readonly text: string };
}

async function judgeAt(target: Target, options: JudgeClientOptions, servers: Servers): Promise<JudgedTarget> {
  const { messages, signal, progress, variables, troubles, seed } = options;
  const { reference, gateway, key } = servers;
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
    onPlan: (probes) => progress.onPlan?.(probes),
    onProbe: ({ planned }) => progress.onProbe?.(planned.probe.name),
    open: (tools) =>
      openSession(
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
  // TypeScript does not see that a callback sets the variable.
  if ((unstartable as UsageError | null) !== null) throw unstartable as unknown as UsageError;
  const occasion = {
    version: packageVersion(),
    party: "client",
    requirements: latestRequirements,
    started,
    finished: new Date(),
    unselected: [],
    messages,
    ...(troubles.length > 0 && { trouble: { seed, kinds: troubles } }),
  } as const;
  const keys = { ...target.keys, ...keysSent(result, key.text) };
  return { ...redactRun(result, occasion, { target: { ...target, keys }, messages, signal }), target };
}

/** The name of a client in its report: the program, and its script. Arguments may hold secrets. */
export function nameOfClient([program, ...args]: readonly [string, ...string[]]): string {
  const script = args.find((each) => /^[\w./-]+[.]\w+$/.test(each) && !each.startsWith("-"));
  return [basename(program), ...(script === undefined ? [] : [basename(script)])].join(" ");
}

const secretHeaders = ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"] as const;

/** The secrets that a client sent although nobody gave them to it. They must be redacted as well. */
function keysSent({ exchanges }: Pick<RunResult, "exchanges">, given: string): Target["keys"] {
  const values = exchanges.flatMap(({ request }: Exchange) =>
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

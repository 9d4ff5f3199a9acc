import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { listenOnLoopback } from "../../base/network/network.ts";
import { seededRandom } from "../../base/numbers.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { formatBreach } from "../../run/judge/finding.ts";
import { suites } from "../../suites/all.ts";
import type { Target } from "../../target/target.ts";
import { drawVariants } from "../seeds.ts";
import { runUnbounded, withSmallTiers } from "../trial.ts";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Noise extends NetworkNoise {
  readonly name: string;
  /** Maximum time for which this process blocks its event loop, every 100 ms. Each blocked time is random. */
  readonly maxLoopBlockMs: number;
  /** Time for which the harness keeps each processor core busy, in every 100 ms. */
  readonly busyMs: number;
}

const noNoise = { jitterMs: 0, resetProbability: 0, dateLagSeconds: 0, maxLoopBlockMs: 0, busyMs: 0 } as const;

/** The kinds of noise to test with. The last entry combines all kinds. */
export const noises: readonly Noise[] = [
  { ...noNoise, name: "connections that are reset", jitterMs: 10, resetProbability: 0.01 },
  { ...noNoise, name: "a `Date` that lags", dateLagSeconds: 5 },
  { ...noNoise, name: "a network that jitters", jitterMs: 300 },
  { ...noNoise, name: "event loops that stand still", maxLoopBlockMs: 250 },
  { ...noNoise, name: "a busy machine", maxLoopBlockMs: 50, busyMs: 80 },
  { name: "all of it", jitterMs: 60, resetProbability: 0.01, dateLagSeconds: 5, maxLoopBlockMs: 50, busyMs: 50 },
];

export interface CorrectServer {
  readonly target: Target;
  /** Advisory clauses that this server breaks on purpose. A note about one of these clauses is no false alarm. */
  readonly notes: readonly string[];
  readonly close: () => void | Promise<void>;
}

/** Starts the reference server with legal variants that the seed selects. */
export async function startLegalServer(seed: number): Promise<CorrectServer> {
  const patches = drawVariants(seed);
  const { target, close } = await startEmbedded(patches);
  const small = withSmallTiers(target);
  const keys = Object.fromEntries(Object.entries(small.keys).filter(([, { tier }]) => tier !== "enterprise"));
  return { target: { ...small, keys }, notes: patches.flatMap(({ breaks }) => breaks), close };
}

/** Draws about half of the suites by the seed. All suites would take too long, because the noise slows each request. */
function drawSuites(seed: number): typeof suites {
  const numbers = seededRandom(seed);
  return suites.filter(() => numbers() < suitesShare);
}

const suitesShare = 0.5;

/** Runs about half of the suites against a correct server, with noise. Returns the false alarms. */
export async function falseAlarmsUnder(noise: Noise, server: CorrectServer, seed: number): Promise<string[]> {
  const numbers = seededRandom(seed);
  const at = new URL(server.target.baseUrl);
  const proxy = await startNoisyProxy(Number(at.port), noise, numbers);
  const noiseSources: CpuNoise[] = [
    ...(noise.maxLoopBlockMs > 0 ? [blockEventLoop(noise.maxLoopBlockMs, 100, numbers)] : []),
    ...(noise.busyMs > 0 ? [keepCoresBusy(noise.busyMs, 100)] : []),
  ];
  at.port = String(proxy.port);
  try {
    const target = { ...server.target, baseUrl: at.href.replace(/\/$/, "") };
    const result = await runUnbounded(target, drawSuites(seed), { maxWaitMs: 2000 });
    if (result.kind !== "judged") return [`nothing was judged: ${JSON.stringify(result.sentence)}`];
    return result.judgements.flatMap(({ check, finding }) => {
      if (finding.kind === "error") return [`${check.id}: ${finding.reason}`];
      const isAlarm = finding.kind === "breach" && !server.notes.includes(check.clause);
      return isAlarm ? [`${check.id}: ${formatBreach(finding)}`] : [];
    });
  } finally {
    for (const { close } of noiseSources) await close();
    await proxy.close();
    await server.close();
  }
}

interface CpuNoise {
  readonly close: () => Promise<void>;
}

const hog = `
  const { workerData } = require("node:worker_threads");
  setInterval(() => { for (const end = Date.now() + workerData.workMs; Date.now() < end;); }, workerData.everyMs);
`;

function keepCoresBusy(workMs: number, everyMs: number): CpuNoise {
  const hogs = Array.from(
    { length: availableParallelism() },
    () => new Worker(hog, { eval: true, workerData: { workMs, everyMs } }),
  );
  return { close: async () => void (await Promise.all(hogs.map((each) => each.terminate()))) };
}

function blockEventLoop(maxMs: number, everyMs: number, numbers: () => number): CpuNoise {
  const timer = setInterval(() => {
    const until = performance.now() + numbers() * maxMs;
    while (performance.now() < until);
  }, everyMs);
  return {
    close: async () => {
      clearInterval(timer);
      await sleep(0);
    },
  };
}

interface NetworkNoise {
  /** Maximum random delay of a chunk of data, in milliseconds. The chunks of a connection keep their order. */
  readonly jitterMs: number;
  /** Probability that the proxy resets the connection instead of forwarding a chunk of data. */
  readonly resetProbability: number;
  /** Seconds by which each `Date` header is set back, as if the server's clock were slow. */
  readonly dateLagSeconds: number;
}

/** Starts a proxy that simulates a bad network before the port `to`. `numbers` returns random numbers from 0 to 1. */
async function startNoisyProxy(to: number, network: NetworkNoise, numbers: () => number) {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (inward) => {
    const outward = connect({ port: to, host: "127.0.0.1", noDelay: true });
    const both = [inward, outward] as const;
    const cut = (): void => {
      for (const socket of both) socket.resetAndDestroy();
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on("close", () => void sockets.delete(socket));
    }
    forwardLate(inward, outward, { ...network, dateLagSeconds: 0 }, numbers, cut);
    forwardLate(outward, inward, network, numbers, cut);
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Exponent of the random delays. It makes most delays short: half of them are at most about 1 % of `jitterMs`. */
const delayExponent = 6.6;

function forwardLate(
  from: Socket,
  to: Socket,
  { jitterMs, resetProbability, dateLagSeconds }: NetworkNoise,
  numbers: () => number,
  cut: () => void,
): void {
  let last = Promise.resolve();
  const later = (then: () => void): void => {
    const passed = new Promise<void>((resolve) => void setTimeout(resolve, numbers() ** delayExponent * jitterMs));
    last = Promise.all([last, passed]).then(then);
  };
  from.on("data", (piece) => {
    if (numbers() < resetProbability) return cut();
    later(() => void (to.destroyed || to.write(putDateBack(piece, dateLagSeconds))));
  });
  from.on("end", () => later(() => void to.end()));
  from.on("error", () => to.destroy());
  from.on("close", () => later(() => void to.end()));
}

function putDateBack(piece: Buffer, seconds: number): Buffer {
  if (seconds === 0) return piece;
  const text = piece.toString("latin1").replace(/(\r\ndate: )([^\r\n]+ GMT)/gi, (_, name: string, date: string) => {
    return name + new Date(Date.parse(date) - seconds * 1000).toUTCString();
  });
  return Buffer.from(text, "latin1");
}

/** Messages about resources of this machine that can run out, by the code of the system error. */
const limitMessages = {
  EMFILE: "the harness ran out of file descriptors (EMFILE): raise `ulimit -n`",
  ENFILE: "this machine ran out of file descriptors (ENFILE): raise `sysctl fs.file-max`, or end other programs",
  ENOMEM: "this machine ran out of memory (ENOMEM): give it more, or end other programs",
  ENOBUFS: "this machine ran out of memory for sockets (ENOBUFS): give it more, or end other programs",
  EADDRNOTAVAIL:
    "this machine ran out of local ports (EADDRNOTAVAIL): widen `sysctl net.ipv4.ip_local_port_range`, or wait a minute",
  EAGAIN: "this machine starts no more processes (EAGAIN): raise `ulimit -u`",
  ERR_WORKER_INIT_FAILED: "this machine starts no more threads: raise `ulimit -u` and `ulimit -n`",
  ERR_WORKER_OUT_OF_MEMORY: "a thread of the harness ran out of memory: give this machine more",
} as const;

export type HarnessLimitCode = keyof typeof limitMessages;

/** The error if this machine lacks a resource, such as ports. It says nothing about the target. */
export class HarnessLimit extends Error {
  override readonly name = "HarnessLimit";
  readonly code: HarnessLimitCode;

  constructor(code: HarnessLimitCode, message: string = limitMessages[code]) {
    super(message);
    this.code = code;
  }
}

/** Finds the exhausted resource of this machine that caused an error; `null` if the error has another cause. */
export function harnessLimitOf(error: unknown): HarnessLimit | null {
  if (error instanceof HarnessLimit) return error;
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError) {
    const found = error.errors.map(harnessLimitOf);
    return found.includes(null) ? null : (found[0] ?? null);
  }
  const code = "code" in error ? error.code : null;
  const isOfSpawn = code !== "EAGAIN" || ("syscall" in error && String(error.syscall).startsWith("spawn"));
  return isLimitCode(code) && isOfSpawn ? new HarnessLimit(code) : harnessLimitOf(error.cause);
}

const isLimitCode = (code: unknown): code is HarnessLimitCode =>
  typeof code === "string" && Object.hasOwn(limitMessages, code);

/** Error messages of other programs, such as k6, with the matching system error codes. */
const foreignMessages: readonly (readonly [pattern: RegExp, code: HarnessLimitCode])[] = [
  [/too many open files in system/i, "ENFILE"],
  [/too many open files/i, "EMFILE"],
  [/cannot assign requested address/i, "EADDRNOTAVAIL"],
  [/cannot allocate memory|out of memory/i, "ENOMEM"],
  [/no buffer space available/i, "ENOBUFS"],
  [/fork\/exec \S+: resource temporarily unavailable|failed to create new OS thread/i, "EAGAIN"],
];

export function harnessLimitIn(text: string): HarnessLimit | null {
  const found = foreignMessages.find(([pattern]) => pattern.test(text));
  return found === undefined ? null : new HarnessLimit(found[1]);
}

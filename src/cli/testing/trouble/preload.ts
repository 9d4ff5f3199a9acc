// NODE_OPTIONS loads this module into every process of the harness. It makes writes fail or clocks jump, as the variable
// CONFORMANCE_TROUBLE says.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { resolve } from "node:path";

/** A disturbance of a process: of its writes or of its clocks. */
export type Interference =
  | {
      readonly kind: "failing writes";
      /** The first write that fails, counted from 1. */
      readonly from: number;
      /** Whether all later writes fail too, as on a full disk. */
      readonly lasts: boolean;
      readonly code: "ENOSPC" | "EIO";
      /** Only writes to files in this folder fail. */
      readonly below: string;
      /** A log file, to which the path of each failed write is appended. */
      readonly log: string;
    }
  | {
      readonly kind: "jumping clocks";
      /** When the clock jumps, in Unix milliseconds. */
      readonly atMs: number;
      readonly byMs: number;
      /** Whether the monotonic clock jumps as well, as after a pause of a virtual machine. */
      readonly isMonotonicToo: boolean;
    };

const interference = JSON.parse(process.env["CONFORMANCE_TROUBLE"] ?? "null") as Interference | null;
if (interference?.kind === "failing writes") failWrites(interference);
if (interference?.kind === "jumping clocks") jumpClocks(interference);

type Call = (...args: readonly unknown[]) => unknown;

function failWrites({ from, lasts, code, below, log }: Extract<Interference, { kind: "failing writes" }>): void {
  const open = fs.openSync;
  const write = fs.writeSync;
  const close = fs.closeSync;
  const paths = new Map<number, string>();
  let count = 0;
  const pathOf = (file: unknown): string =>
    typeof file === "number" ? (paths.get(file) ?? "") : resolve(String(file));
  const failsNow = (file: unknown): boolean => {
    if (!pathOf(file).startsWith(below)) return false;
    count += 1;
    return lasts ? count >= from : count === from;
  };
  const fail = (file: unknown): never => {
    const path = pathOf(file);
    const logging = open(log, "a");
    write(logging, `${path}\n`);
    close(logging);
    const text = code === "ENOSPC" ? "no space left on device" : "i/o error";
    throw Object.assign(new Error(`${code}: ${text}, write '${path}'`), { code, syscall: "write", path });
  };
  /** Writes half of the data and then throws, as on a full disk. */
  const writeHalf = (file: unknown, data: unknown): void => {
    if (typeof data !== "string") return;
    const descriptor = typeof file === "number" ? file : open(String(file), "w");
    write(descriptor, data.slice(0, data.length / 2));
    if (typeof file !== "number") close(descriptor);
  };
  const patch = (
    target: object,
    name: string,
    failing: (original: Call, args: readonly unknown[]) => unknown,
  ): void => {
    const original = (Reflect.get(target, name) as Call).bind(target);
    Reflect.set(target, name, (...args: readonly unknown[]) => failing(original, args));
  };
  patch(fs, "openSync", (original, args) => {
    const descriptor = original(...args) as number;
    paths.set(descriptor, resolve(String(args[0])));
    return descriptor;
  });
  for (const name of ["writeFileSync", "appendFileSync", "writeSync"])
    patch(fs, name, (original, args) => {
      if (!failsNow(args[0])) return original(...args);
      // A write at a position fails as a whole, not after half of its data. Only locks are written so, and a lock fits into one block of
      // the disk.
      if (name !== "writeSync" || args[2] === undefined) writeHalf(args[0], args[1]);
      return fail(args[0]);
    });
  for (const name of ["writeFile", "appendFile"])
    patch(fs.promises, name, async (original, args) => {
      if (!failsNow(args[0])) return await original(...args);
      writeHalf(args[0], args[1]);
      return fail(args[0]);
    });
  syncBuiltinESMExports();
}

function jumpClocks({ atMs, byMs, isMonotonicToo }: Extract<Interference, { kind: "jumping clocks" }>): void {
  const RealDate = Date;
  const realNow = Date.now.bind(Date);
  const jump = (): number => (realNow() >= atMs ? byMs : 0);
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: readonly unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [realNow() + jump()] : args, newTarget) as Date,
    apply: () => new RealDate(realNow() + jump()).toString(),
    get: (target, name) => (name === "now" ? () => realNow() + jump() : (Reflect.get(target, name) as unknown)),
  });
  if (!isMonotonicToo) return;
  const realMonotonic = performance.now.bind(performance);
  performance.now = () => realMonotonic() + jump();
}

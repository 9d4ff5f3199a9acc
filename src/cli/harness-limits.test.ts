import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, describe, expect, it, onTestFinished } from "vitest";

import type { Report } from "../report/model/report.ts";

const main = new URL("main.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "limits-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the command in a separate process. `prefix`: a program, with its arguments, that starts this process. */
async function ended(prefix: readonly string[], args: readonly string[]) {
  const [program = "", ...all] = [...prefix, process.execPath, main, ...args];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(program, all, {
    env: { PATH, NO_COLOR: "1", ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<unknown[]>,
  ]);
  return { code, out, err };
}

/** Code that makes every third connection of a process fail, after the first `after` connections. */
const failing = (code: string, after: number): string[] => {
  const preload = `
    import net from "node:net";
    let count = 0;
    const { connect } = net.Socket.prototype;
    net.Socket.prototype.connect = function (...given) {
      count += 1;
      if (count <= ${after} || count % 3 !== 0) return connect.apply(this, given);
      const error = Object.assign(new Error("connect ${code} 127.0.0.1:80"), { code: "${code}", syscall: "connect" });
      process.nextTick(() => this.destroy(error));
      return this;
    };`;
  return ["env", `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(preload)}`];
};

describe.skipIf(process.platform === "win32")(
  "a harness that meets a limit of its machine",
  { timeout: 120_000 },
  () => {
    it.each([
      ["run", ["run", "--quiet"]],
      ["serve", ["serve", "--port", "0"]],
      ["nightly", ["nightly", "--history", join(folder, "nights")]],
    ])("%s says in one line what to raise, before it sends anything", async (command, args) => {
      const few = ["sh", "-c", 'ulimit -n 64 && exec "$0" "$@"'];
      const { code, out, err } = await ended(few, [
        ...args,
        ...(command === "run" ? ["--out", join(folder, command)] : []),
      ]);
      expect([code, out]).toEqual([4, ""]);
      expect(err).toMatch(
        /^No verdict, and not the target's fault: the harness may need \d+ more open files, and can open \d+: raise the limit, such as with `ulimit -n \d+`\.\n$/,
      );
    });

    it("serve says once that it closes connections without a response", async () => {
      const few = ["-c", 'ulimit -n 256 && exec "$0" "$@"', process.execPath, main, "serve", "--port", "0", "--quiet"];
      const child = spawn("sh", few, { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] });
      onTestFinished(() => void child.kill());
      const [banner] = (await once(child.stdout, "data")) as [Buffer];
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(banner.toString())?.[1]);
      const sockets = Array.from({ length: 300 }, () => connect(port, "127.0.0.1").on("error", () => {}));
      const [said] = (await once(child.stderr, "data")) as [Buffer];
      for (const socket of sockets) socket.destroy();
      expect(said.toString()).toBe(
        "The server has no file descriptor left, and closes new connections without a response: raise `ulimit -n`.\n",
      );
    });

    it.each(["EMFILE", "EADDRNOTAVAIL"])("calls nothing broken after %s in the middle of a run", async (limit) => {
      const out = join(folder, limit);
      // The tests skip webhook deliveries, which the embedded server would send over connections of the same process.
      const withoutDeliveries = ["HOOK-*", "WHK-*", "ALR-*"].flatMap((clauses) => ["--skip", clauses]);
      const { code } = await ended(failing(limit, 60), ["run", "--quiet", "--out", out, ...withoutDeliveries]);
      const { verdict, totals, stopped } = JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as Report;
      expect([code, verdict, totals.fail, totals.warning]).toEqual([4, "incomplete", 0, 0]);
      expect(stopped).toContain(`(${limit})`);
    });

    it.each([
      ["too few files for a scenario", ["sh", "-c", 'ulimit -n 200 && exec "$0" "$@"'], /may need \d+ more open files/],
      ["EMFILE while it sends", failing("EMFILE", 5), /ran out of file descriptors \(EMFILE\): raise `ulimit -n`/],
    ])("ends a load: %s", async (_, prefix, reason) => {
      const out = join(folder, "load");
      const { code } = await ended(
        prefix,
        "load burst concurrency --tier pro --engine autocannon --quiet --out".split(" ").concat(out),
      );
      const { totals, findings } = JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as Report;
      expect([code, totals.fail, totals.error]).toEqual([4, 0, 1]);
      expect(findings.filter(({ outcome }) => outcome !== "error").map(({ outcome }) => outcome)).not.toContain("pass");
      expect(findings.every((finding) => reason.test(finding.reason ?? ""))).toBe(true);
    });
  },
);

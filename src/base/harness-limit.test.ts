import { describe, expect, it } from "vitest";

import { HarnessLimitError, harnessLimitIn, harnessLimitOf } from "./harness-limit.ts";

const coded = (code: string, other: object = {}): Error =>
  Object.assign(new Error(`connect ${code} 127.0.0.1:80`), { code, ...other });

describe("limits of the harness and its machine", () => {
  it.each([
    ["EMFILE", "raise `ulimit -n`"],
    ["ENFILE", "fs.file-max"],
    ["ENOMEM", "give it more"],
    ["ENOBUFS", "give it more"],
    ["EADDRNOTAVAIL", "ip_local_port_range"],
    ["ERR_WORKER_INIT_FAILED", "raise `ulimit -u`"],
  ])("finds %s and says what to do", (code, advice) => {
    expect(harnessLimitOf(coded(code))?.message).toContain(advice);
  });

  it.each<[string, unknown, string | null]>([
    ["a cause", new TypeError("fetch failed", { cause: coded("EMFILE") }), "EMFILE"],
    ["the limit itself", new HarnessLimitError("ENFILE"), "ENFILE"],
    ["a process that cannot start", coded("EAGAIN", { syscall: "spawn k6" }), "EAGAIN"],
    ["a read that would block", coded("EAGAIN", { syscall: "read" }), null],
    ["attempts that all met one", new AggregateError([coded("EMFILE"), coded("EMFILE")]), "EMFILE"],
    ["no IPv6 on this machine", new AggregateError([coded("ECONNREFUSED"), coded("EADDRNOTAVAIL")]), null],
    ["a target that is away", coded("ECONNREFUSED"), null],
    ["no error", null, null],
  ])("looks into %s", (_, error, code) => {
    expect(harnessLimitOf(error)?.code ?? null).toBe(code);
  });

  it.each([
    ["dial tcp 127.0.0.1:80: socket: too many open files", "EMFILE"],
    ["open /proc/stat: too many open files in system", "ENFILE"],
    ["dial: connect: cannot assign requested address", "EADDRNOTAVAIL"],
    ["mmap: cannot allocate memory", "ENOMEM"],
    ["dial tcp 127.0.0.1:80: connect: connection refused", null],
  ])("finds the limit in k6's words: %s", (text, code) => {
    expect(harnessLimitIn(text)?.code ?? null).toBe(code);
  });
});

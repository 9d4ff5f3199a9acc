import { describe, expect, it } from "vitest";

import { formatAddress, baseUrlFor, readListenAddress, ReceiverError } from "./server.ts";

describe("the address to listen on", () => {
  it.each([
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["localhost:8080", { host: "localhost", port: 8080 }],
    ["[::1]:65535", { host: "::1", port: 65_535 }],
  ])("%s is read", (text, address) => {
    expect(readListenAddress(text)).toEqual(address);
    expect(formatAddress(address)).toBe(text);
  });

  it.each([
    "",
    "127.0.0.1",
    "8080",
    ":8080",
    "127.0.0.1:65536",
    "::1:80",
    "[tunnel]:80",
    "http://127.0.0.1:80",
    "a b:1",
  ])("%j is refused in one line", (text) => {
    expect(() => readListenAddress(text)).toThrow(ReceiverError);
    expect(() => readListenAddress(text)).toThrow(/^`webhooks.listen` is .*; give a host and a port.*$/);
  });
});

describe("the base URL of hooks", () => {
  const local = { host: "127.0.0.1", port: 4711 };

  it.each([
    [null, "http://127.0.0.1:4711"],
    ["https://tunnel.example", "https://tunnel.example"],
    ["https://tunnel.example/", "https://tunnel.example"],
    ["https://tunnel.example:8443/hook//", "https://tunnel.example:8443/hook"],
  ])("with the public URL %s is %s", (publicUrl, baseUrl) => {
    expect(baseUrlFor(local, publicUrl)).toBe(baseUrl);
  });

  it("has brackets around an IPv6 address", () => {
    expect(baseUrlFor({ host: "::1", port: 80 }, null)).toBe("http://[::1]:80");
  });

  it.each([
    "tunnel.example",
    "ftp://tunnel.example",
    "https://tunnel.example/?to=hook",
    "https://tunnel.example/#hook",
    "",
  ])("refuses the public URL %j in one line", (publicUrl) => {
    expect(() => baseUrlFor(local, publicUrl)).toThrow(ReceiverError);
    expect(() => baseUrlFor(local, publicUrl)).toThrow(/^`webhooks.publicUrl` is .*\. Give one like .*$/);
  });

  it("refuses a public URL with a password, and does not repeat it", () => {
    expect(() => baseUrlFor(local, "https://me:s3cret@tunnel.example")).toThrow(/^(?!.*s3cret).*a password.*\.$/);
  });

  it.each(["0.0.0.0", "::"])("needs a public URL if it listens on every address (%s)", (host) => {
    expect(() => baseUrlFor({ host, port: 80 }, null)).toThrow(/webhooks\.publicUrl/);
    expect(baseUrlFor({ host, port: 80 }, "http://10.0.0.7:80")).toBe("http://10.0.0.7:80");
  });
});

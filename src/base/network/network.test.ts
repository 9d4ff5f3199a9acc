import { describe, expect, it } from "vitest";

import { plainNetwork, proxyFor } from "./network.ts";

const [http, https] = ["http://plain:3128/", "http://secure:3128/"];
const through = (except: string, url: string): string | null =>
  proxyFor({ ...plainNetwork, proxy: { kind: "by address", http, https, except: except.split(",") } }, url);

describe("the proxy of an address", () => {
  it.each([
    ["", "https://api.acme.example/v1", https],
    ["", "http://api.acme.example/v1", http],
    ["", "http://localhost:8080/v1", null],
    ["", "http://127.0.0.7/v1", null],
    ["", "https://[::1]:8443/v1", null],
    ["*", "https://api.acme.example", null],
    ["acme.example", "https://api.acme.example", null],
    [".acme.example", "https://api.acme.example", null],
    ["*.acme.example", "https://API.acme.example", null],
    ["acme.example", "https://notacme.example", https],
    ["api.acme.example:443", "https://api.acme.example", null],
    ["api.acme.example:8443", "https://api.acme.example", https],
    ["10.0.0.0/8", "http://10.1.2.3", null],
    ["10.0.0.0/8", "http://11.1.2.3", http],
    ["fd00::/8", "http://[fd12::1]", null],
    ["10.1.2.3", "http://10.1.2.3:8080", null],
    ["1.2.3", "http://10.1.2.3", http],
  ])("with NO_PROXY=%s for %s is %s", (except, url, expected) => {
    expect(through(except, url)).toBe(expected);
  });

  it.each(["http://127.0.0.1/v1", "https://api.acme.example"])("is the named one, also for %s", (url) => {
    expect(proxyFor({ ...plainNetwork, proxy: { kind: "always", url: http } }, url)).toBe(http);
  });
});

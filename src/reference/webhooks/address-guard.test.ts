import type { LookupAddress } from "node:dns";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { minuteMs } from "../../base/duration.ts";
import { addressGuard, isLoopbackHost, type Resolver } from "./address-guard.ts";
import { agentEvent, newWebhook, outboxFixture } from "./testing/outbox-fixture.ts";

const strict = addressGuard({ allowsLoopback: false, allowed: [] });

describe("a URL from a user", () => {
  it.each([
    ["https://example.com/hook"],
    ["http://93.184.216.34:8080/"],
    ["http://[2606:2800:220:1::1]/"],
    ["http://[::ffff:93.184.216.34]/"],
    ["http://[64:ff9b::5db8:d822]/"],
    ["http://172.32.0.1/"],
    ["http://100.128.0.1/"],
    ["http://192.169.0.1/"],
  ])("%s is allowed", (url) => {
    expect(strict.addressRefusal(url)).toBeNull();
  });

  it.each([
    ["ftp://example.com/"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["example.com"],
    [""],
    ["http://127.0.0.1/"],
    ["http://127.1/"],
    ["http://2130706433/"],
    ["http://0x7f000001/"],
    ["http://0177.0.0.1/"],
    ["http://localhost:80/"],
    ["http://LOCALHOST./"],
    ["http://app.localhost/"],
    ["http://0.0.0.0/"],
    ["http://10.255.0.1/"],
    ["http://172.16.0.1/"],
    ["http://172.31.255.255/"],
    ["http://192.168.1.1/"],
    ["http://100.64.0.1/"],
    ["http://169.254.169.254/latest/meta-data/"],
    ["http://168.63.129.16/machine/"],
    ["http://192.0.2.1/"],
    ["http://198.51.100.7/"],
    ["http://203.0.113.255/"],
    ["http://[2001:db8::1]/"],
    ["http://[3fff::1]/"],
    ["http://[::ffff:192.0.2.1]/"],
    ["http://224.0.0.1/"],
    ["http://255.255.255.255/"],
    ["http://[::]/"],
    ["http://[::1]/"],
    ["http://[fe80::1]/"],
    ["http://[fd00:ec2::254]/"],
    ["http://[fc00::1]/"],
    ["http://[ff02::1]/"],
    ["http://[::ffff:127.0.0.1]/"],
    ["http://[::ffff:a9fe:a9fe]/"],
    ["http://[::10.0.0.1]/"],
    ["http://[::ffff:0:169.254.169.254]/"],
    ["http://[64:ff9b::169.254.169.254]/"],
    ["http://[64:ff9b:1::1]/"],
    ["http://[2002:a00:1::]/"],
  ])("%s is refused", (url) => {
    expect(strict.addressRefusal(url)).toMatch(/./);
  });

  it("may be on loopback if the server listens there", () => {
    const onLoopback = addressGuard({ allowsLoopback: true, allowed: [] });
    for (const host of ["127.0.0.1", "127.8.8.8", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
      expect(onLoopback.addressRefusal(`http://${host}:9/`)).toBeNull();
    expect(onLoopback.addressRefusal("http://10.0.0.1/")).not.toBeNull();
  });

  it("may not be the machine itself in any network, unless it is allowed", () => {
    const machineAddresses = ["93.184.216.34", "2606:2800:220:1::1"];
    const guard = addressGuard({ allowsLoopback: true, allowed: [], machineAddresses });
    for (const host of ["93.184.216.34", "[2606:2800:220:1::1]", "[::ffff:93.184.216.34]"])
      expect(guard.addressRefusal(`http://${host}/`)).toMatch(/does not deliver to/);
    expect(guard.addressRefusal("http://93.184.216.35/")).toBeNull();
    const allowing = addressGuard({ allowsLoopback: false, allowed: machineAddresses, machineAddresses });
    expect(allowing.addressRefusal("http://93.184.216.34/")).toBeNull();
  });

  it("may not be an address of this machine's interfaces", () => {
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    expect(addresses.length).toBeGreaterThan(0);
    for (const { address, family } of addresses)
      expect(strict.addressRefusal(`http://${family === "IPv6" ? `[${address}]` : address}/`)).not.toBeNull();
  });

  it("may be in an allowed network", () => {
    const guard = addressGuard({ allowsLoopback: false, allowed: ["10.1.0.0/16", "fd00:1::/32", "192.168.0.7"] });
    expect(guard.addressRefusal("http://10.1.2.3/")).toBeNull();
    expect(guard.addressRefusal("http://[fd00:1::2]/")).toBeNull();
    expect(guard.addressRefusal("http://192.168.0.7/")).toBeNull();
    expect(guard.addressRefusal("http://[::ffff:10.1.2.3]/")).toBeNull();
    expect(guard.addressRefusal("http://10.2.0.1/")).not.toBeNull();
    expect(guard.addressRefusal("http://192.168.0.8/")).not.toBeNull();
  });

  it.each([["10.0.0.0/33"], ["10.0.0/8"], ["example.com"], ["10.0.0.0/8/8"], [""]])(
    "cannot be allowed by the network %j",
    (allowed) => {
      expect(() => addressGuard({ allowsLoopback: false, allowed: [allowed] })).toThrow(/CIDR/);
    },
  );
});

describe("a name", () => {
  const leadsTo =
    (...addresses: readonly string[]): Resolver =>
    (_name, done) =>
      done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
      );

  const cases: readonly (readonly [string, Resolver])[] = [
    ["a private address", leadsTo("192.168.0.1")],
    ["a public and a private address", leadsTo("93.184.216.34", "10.0.0.1")],
    ["a mapped private address", leadsTo("::ffff:10.0.0.1")],
    ["a link-local address with a zone", leadsTo("fe80::1%eth0")],
    ["no address", leadsTo()],
  ];
  it.each(cases)("that leads to %s is not connected to", async (_name, resolve) => {
    const { outbox, advance } = outboxFixture({ guard: { resolve } });
    const { id } = outbox.add(newWebhook("http://inside.example/"));
    outbox.emit(agentEvent());
    await advance(0);
    expect(outbox.deliveriesOf(id)[0]?.attempts[0]).toMatchObject({
      status: null,
      failure: expect.stringMatching(/^inside.example (leads to an address|has no address)/),
    });
  });

  it("is checked again each time it is resolved", async () => {
    const answers = ["127.0.0.1", "10.0.0.1"];
    const resolve: Resolver = (name, done) => leadsTo(answers.shift() ?? "10.0.0.1")(name, done);
    const { outbox, advance, receiver } = outboxFixture({ guard: { resolve } });
    const target = await receiver({ status: 500, headers: { connection: "close" } });
    const { id } = outbox.add(newWebhook(target.url.replace("127.0.0.1", "rebinding.example")));
    outbox.emit(agentEvent());
    await advance(minuteMs);
    expect(target.received).toHaveLength(1);
    expect(outbox.deliveriesOf(id)[0]?.attempts.map(({ status }) => status)).toEqual([500, null]);
  });

  it("of the machine itself is refused if loopback is", async () => {
    const { outbox, advance, receiver } = outboxFixture({ guard: { allowsLoopback: false } });
    const target = await receiver(204);
    const { port } = new URL(target.url);
    const hooks = [target.url, `http://localhost:${port}/`, `http://[::1]:${port}/`].map((url) =>
      outbox.add(newWebhook(url)),
    );
    outbox.emit(agentEvent());
    await advance(0);
    for (const { id } of hooks) expect(outbox.deliveriesOf(id)[0]?.attempts[0]).toMatchObject({ status: null });
    expect(target.received).toHaveLength(0);
  });
});

describe("a server", () => {
  it.each([
    ["127.0.0.1", true],
    ["::1", true],
    ["localhost", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.168.0.2", false],
    ["example.com", false],
  ])("on %s is on loopback: %s", (host, is) => {
    expect(isLoopbackHost(host)).toBe(is);
  });
});

import { standardDeliveries } from "../../behaviour/deliveries.ts";
import { virtualClock } from "../../clock.ts";
import { addressGuard } from "../address-guard.ts";
import { diskStore } from "../disk-store.ts";
import { outbox } from "../outbox.ts";

// This program emits events, and kills itself before it has sent any.
const [folder = "", url = "", count = "0"] = process.argv.slice(2);
const server = outbox({
  clock: virtualClock(),
  behaviour: standardDeliveries,
  store: diskStore(folder),
  receivers: "anywhere",
  guard: addressGuard({ allowsLoopback: true, allowed: [] }),
});
server.add({ url, events: ["agent.*"], agentId: null, secret: null, headers: {}, owner: "pro" });
for (let number = 0; number < Number(count); number += 1)
  server.emit({ type: "agent.invoked", agentId: "echo", deploymentId: null, data: { number } });
process.kill(process.pid, "SIGKILL");

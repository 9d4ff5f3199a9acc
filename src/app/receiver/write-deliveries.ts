import { writeAndRename } from "../report-folder/write-files.ts";
import { probesOf } from "../../run/judge/check.ts";
import { deliveryHeaders, type DeliverySettings } from "../../run/run-deliveries.ts";
import type { DeliverySender, OutgoingDelivery, SentDelivery } from "../../run/send/delivery-sender.ts";
import { suitesOfParty } from "../../suites/all.ts";
import { slug } from "../../base/file-names.ts";

/** An entry of `deliveries.json`: a delivery that a run would send, and the name of the file with its body. */
interface WrittenDelivery {
  readonly probe: string;
  readonly what: string;
  readonly file: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Writes the deliveries that a run would send into a folder: a file for each body, and `deliveries.json` with the
 * headers. Sends nothing. Returns their number.
 */
export async function writeDeliveries(folder: string, settings: DeliverySettings): Promise<number> {
  const files: Record<string, string> = {};
  const written: WrittenDelivery[] = [];
  const checks = suitesOfParty("receiver").flatMap((suite) => suite.checks);
  for (const probe of new Set(checks.flatMap(({ on }) => Object.values(probesOf(on))))) {
    const deliver = async (delivery: OutgoingDelivery): Promise<SentDelivery> => {
      const number = String(written.length + 1).padStart(2, "0");
      const file = `${number}-${slug(delivery.what)}.json`;
      files[file] = delivery.body;
      written.push({ probe: probe.name, what: delivery.what, file, headers: headersOfDelivery(delivery, settings) });
      return deliveryNotSent(delivery);
    };
    await probe.deliver?.({ ...settings, deliver });
  }
  writeAndRename(folder, { ...files, "deliveries.json": `${JSON.stringify(written, null, 2)}\n` });
  return written.length;
}

const headersOfDelivery = (
  { body, headers }: OutgoingDelivery,
  settings: DeliverySettings,
): Readonly<Record<string, string>> => Object.fromEntries(deliveryHeaders(body, [...headers, ...settings.headers]));

const deliveryNotSent = ({ what }: OutgoingDelivery): Awaited<ReturnType<DeliverySender["deliver"]>> => ({
  what,
  exchange: {
    id: "x0",
    key: null,
    request: { method: "POST", url: "", headers: [], body: { kind: "none" } },
    sentMs: 0,
    clockMs: 0,
    answer: { kind: "unanswered", reason: "unreachable", detail: "not sent", endMs: 0 },
  },
});

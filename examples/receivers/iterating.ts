// Receives webhook deliveries by async iteration. Start it with WEBHOOK_SECRET and PORT in the environment.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";

const secret = process.env["WEBHOOK_SECRET"] ?? "";
if (secret === "") throw new Error("WEBHOOK_SECRET is not set.");

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function isSigned(body: Buffer, signature: string): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(expected, given);
}

interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly deployment_id?: string;
}

async function receive(request: IncomingMessage): Promise<number> {
  const body = await bodyOf(request);
  if (!isSigned(body, String(request.headers["x-service-signature"] ?? ""))) return 401;
  const event = JSON.parse(body.toString("utf8")) as WebhookEvent;
  process.stdout.write(`${event.type}\n`); // Put the event into a queue here, and handle it later.
  return 204;
}

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  );
}).listen(Number(process.env["PORT"]), "127.0.0.1");

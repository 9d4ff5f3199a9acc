import { chmodSync } from "node:fs";
import { join } from "node:path";
import type * as Sqlite from "node:sqlite";
import { messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/files/output-folders.ts";
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryTotals,
  noNumbers,
  type Store,
  type StoredState,
  type StoredWebhook,
} from "./store.ts";

/** Error: the server cannot keep its state in a folder. The message is written for the user. */
export class DataFolderProblem extends Error {
  override readonly name = "DataFolderProblem";
}

const formatVersion = 1;

const tables = `
  CREATE TABLE webhooks (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, webhook TEXT NOT NULL, tally TEXT NOT NULL);
  CREATE TABLE deliveries (number INTEGER PRIMARY KEY, webhook_id TEXT, next_attempt_ms INTEGER, delivery TEXT NOT NULL);
  CREATE TABLE attempts (
    delivery INTEGER NOT NULL REFERENCES deliveries (number) ON DELETE CASCADE,
    number INTEGER NOT NULL, at_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, status INTEGER, failure TEXT,
    PRIMARY KEY (delivery, number)
  ) WITHOUT ROWID;
  CREATE TABLE numbers (name TEXT PRIMARY KEY, last INTEGER NOT NULL);
  CREATE TABLE records (kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, id));
  PRAGMA user_version = ${formatVersion};
`;

/**
 * Returns a store that keeps the server's state in a folder. Creates the folder if it is missing. Throws a
 * `DataFolderProblem` if the folder cannot be used.
 */
export function diskStore(folder: string): Store {
  try {
    return storeOn(openDatabase(folder));
  } catch (error) {
    if (error instanceof DataFolderProblem) throw error;
    const why = messageOf(error);
    const advice = why.includes("locked")
      ? "Another server uses it: stop that one, or name another folder."
      : "Name another folder.";
    throw new DataFolderProblem(`State cannot be kept in ${folder}: ${why}. ${advice}`, { cause: error });
  }
}

function openDatabase(folder: string): Sqlite.DatabaseSync {
  makeFolder(folder, 0o700);
  const file = join(folder, "conformance.sqlite");
  const { DatabaseSync: Database } = sqlite();
  const database = new Database(file);
  // Only the owner may read the file, because it contains secrets of webhooks.
  chmodSync(file, 0o600);
  // The lock lets only one server use the folder. A killed server leaves no lock.
  database.exec(
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;",
  );
  const version = Number(Object.values(database.prepare("PRAGMA user_version").get() ?? {})[0]);
  if (version === 0) database.exec(`BEGIN; ${tables} COMMIT;`);
  else if (version !== formatVersion) {
    database.close();
    throw new DataFolderProblem(`${file} was written by another version (format ${version}). Name another folder.`);
  }
  return database;
}

/** Loads Node's SQLite module. Suppresses the warning that some versions of Node print when they load it. */
function sqlite(): typeof Sqlite {
  const own = Object.getOwnPropertyDescriptor(process, "emitWarning");
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    if (own !== undefined) Object.defineProperty(process, "emitWarning", own);
  }
}

type Row = Readonly<Record<string, Sqlite.SQLOutputValue>>;

function storeOn(database: Sqlite.DatabaseSync): Store {
  const prepare = (sql: string) => database.prepare(sql);
  const atomically = (write: () => void) => inTransaction(database, write);
  const putNumber = prepare(
    "INSERT INTO numbers VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET last = max(last, excluded.last)",
  );
  const putWebhook = prepare("INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?, ?)");
  const putTotals = prepare("UPDATE webhooks SET tally = ? WHERE id = ?");
  const addDelivery = prepare("INSERT INTO deliveries VALUES (?, ?, ?, ?)");
  const putDelivery = prepare("UPDATE deliveries SET next_attempt_ms = ?, delivery = ? WHERE number = ?");
  const addAttempt = prepare("INSERT OR IGNORE INTO attempts VALUES (?, ?, ?, ?, ?, ?)");
  const dropDelivery = prepare("DELETE FROM deliveries WHERE number = ?");
  const putRecord = prepare(
    "INSERT INTO records VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value",
  );
  const recordsOfKind = prepare("SELECT id, value FROM records WHERE kind = ? ORDER BY rowid");
  return {
    load: () => load(database),
    putWebhook: (number, { webhook, isActive, totals }) =>
      atomically(() => {
        putWebhook.run(number, webhook.id, JSON.stringify({ ...webhook, isActive }), JSON.stringify(totals));
        putNumber.run("webhooks", number);
      }),
    addDeliveries: (deliveries) =>
      atomically(() => {
        for (const delivery of deliveries) {
          addDelivery.run(delivery.number, delivery.to.webhookId, delivery.nextAttemptMs, toJson(delivery));
          putNumber.run("deliveries", delivery.number);
          putNumber.run("messages", delivery.message.number);
        }
      }),
    endAttempt: (delivery, totals) =>
      atomically(() => {
        const { number, attempts, to } = delivery;
        const last = attempts.at(-1);
        putDelivery.run(delivery.nextAttemptMs, toJson(delivery), number);
        if (last !== undefined)
          addAttempt.run(number, attempts.length, last.atMs, last.endedMs, last.status, last.failure);
        if (to.webhookId !== null) putTotals.run(JSON.stringify(totals), to.webhookId);
      }),
    dropDelivery: (number) => void dropDelivery.run(number),
    put: (kind, id, value) => void putRecord.run(kind, id, JSON.stringify(value)),
    list: (kind) =>
      recordsOfKind.all(kind).map(({ id, value }) => ({ id: String(id), value: JSON.parse(String(value)) as unknown })),
    close: () => database.close(),
  };
}

function inTransaction(database: Sqlite.DatabaseSync, write: () => void): void {
  database.exec("BEGIN");
  try {
    write();
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function toJson({ number: _number, attempts: _attempts, nextAttemptMs: _nextAttemptMs, ...rest }: Delivery): string {
  return JSON.stringify(rest);
}

function load(database: Sqlite.DatabaseSync): StoredState {
  const rowsOf = (sql: string) => database.prepare(sql).all();
  const attempts = Map.groupBy(rowsOf("SELECT * FROM attempts ORDER BY delivery, number"), ({ delivery }) =>
    Number(delivery),
  );
  const numbers = rowsOf("SELECT name, last FROM numbers").map(({ name, last }) => [String(name), Number(last)]);
  return {
    webhooks: rowsOf("SELECT webhook, tally FROM webhooks ORDER BY number").map(webhookOf),
    deliveries: rowsOf("SELECT number, next_attempt_ms, delivery FROM deliveries ORDER BY number").map((row) =>
      deliveryOf(row, (attempts.get(Number(row["number"])) ?? []).map(attemptOf)),
    ),
    numbers: { ...noNumbers, ...Object.fromEntries(numbers) },
  };
}

function attemptOf({ at_ms, ended_ms, status, failure }: Row): DeliveryAttempt {
  return {
    atMs: Number(at_ms),
    endedMs: Number(ended_ms),
    status: typeof status === "number" ? status : null,
    failure: typeof failure === "string" ? failure : null,
  };
}

// The casts of parsed JSON below are safe: a reference server with the same format version wrote the JSON.

function webhookOf({ webhook: text, tally }: Row): StoredWebhook {
  const { isActive, ...webhook } = JSON.parse(String(text)) as StoredWebhook["webhook"] & { isActive: boolean };
  return { webhook, isActive, totals: JSON.parse(String(tally)) as DeliveryTotals };
}

function deliveryOf(row: Row, attempts: readonly DeliveryAttempt[]): Delivery {
  const rest = JSON.parse(String(row["delivery"])) as Omit<Delivery, "number" | "attempts" | "nextAttemptMs">;
  const next = row["next_attempt_ms"];
  return { ...rest, number: Number(row["number"]), attempts, nextAttemptMs: typeof next === "number" ? next : null };
}

// Runs the Firestore emulator on loopback only: its own `start` would listen on every address. It lacks what a store has to cope
// with, which is added here: transactions that are aborted when others changed what they read, conditions on writes, the order
// of names, the limits of a commit, and calls that fail or are held up.
// Arguments: the folder with its node_modules, and the port.
const { createRequire } = require("node:module");
const http = require("node:http");
const path = require("node:path");

const [folder, port] = process.argv.slice(2);
const installed = createRequire(path.join(path.resolve(folder), "package.json"));
const emulator = require(installed.resolve("@firestore-emulator/server"));
const { ServerCredentials, status } = installed("@grpc/grpc-js");

const { server, state } = new emulator.FirestoreServer();
const LIMITS = { writes: 500, request: 10 * 1024 * 1024, document: 1024 * 1024, values: 40000 };
server.options = { ...server.options, "grpc.max_receive_message_length": LIMITS.request + 64 * 1024 };

// Its queries know no order of names. All of ours have that order and no other.
const DESCENDING = 2;
const query = state.v1Query.bind(state);
// What was found last.
let found = [];
state.v1Query = (parent, asked) => {
  found = query(parent, Object.create(asked, { order_by: { value: [] }, has_limit: { value: false } })).slice();
  const sign = asked.order_by[0]?.direction === DESCENDING ? -1 : 1;
  found.sort((a, b) => (a.name < b.name ? -sign : sign));
  if (asked.has_limit) found = found.slice(0, asked.limit.value);
  return found;
};

// Which commit last changed each document.
let commits = 0;
const versions = new Map();
const version = (name) => versions.get(name) ?? 0;

// What each transaction has read, and as of which commit.
const transactions = new Map();
let begun = 0;
const begin = (options) => {
  const id = Buffer.alloc(12);
  id.writeUInt32BE(++begun, 0);
  const isReader = options.has_read_only;
  transactions.set(id.toString("hex"), { documents: new Map(), queries: [], isReader, commit: commits });
  return Uint8Array.from(id);
};
const transactionOf = (id) => transactions.get(Buffer.from(id).toString("hex"));
const list = (documents) => documents.map((document) => `${document.getPath()}@${version(document.getPath())}`).join(" ");
const isStale = ({ documents, queries, commit }) =>
  commit !== commits &&
  ([...documents].some(([name, read]) => version(name) !== read) ||
    queries.some(({ parent, query, listed }) => list(state.v1Query(parent, query)) !== listed));

// Calls that are to fail, and how many there were.
const failures = [];
const calls = new Map();
const takeFailure = (call, when) => {
  const failure = failures.find((one) => one.call === call && one.when === when && one.times > 0);
  if (!failure || failure.skip-- > 0) return undefined;
  failure.times -= 1;
  return failure;
};
const told = (code, message) => ({ code, message, name: "Error" });

const handler = (name) => server.handlers.get(`/google.firestore.v1.Firestore/${name}`);
const watch = (name, read) => {
  const handled = handler(name);
  const original = handled.func;
  handled.func = (call) => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    const failure = takeFailure(name, "before");
    if (failure) return call.emit("error", told(failure.code, "told to fail"));
    const { request } = call;
    const id = request.has_new_transaction ? begin(request.new_transaction) : request.transaction;
    const transaction = id?.length ? transactionOf(id) : undefined;
    if (id?.length && !transaction) return call.emit("error", told(status.INVALID_ARGUMENT, "no such transaction"));
    if (request.has_new_transaction) {
      const write = call.write.bind(call);
      call.write = (answer) => {
        answer.transaction = id;
        return write(answer);
      };
    }
    try {
      original(call);
      if (transaction && !transaction.isReader) read(request, transaction);
    } catch (error) {
      console.error(error);
      call.emit("error", told(status.INVALID_ARGUMENT, String(error)));
    }
  };
};
watch("BatchGetDocuments", (request, { documents }) => {
  for (const name of request.documents) documents.set(name, version(name));
});
watch("RunQuery", ({ parent, structured_query: query }, { queries }) => {
  queries.push({ parent, query, listed: list(found) });
});
watch("RunAggregationQuery", ({ parent, structured_aggregation_query: counting }, { queries }) => {
  queries.push({ parent, query: counting.structured_query, listed: list(found) });
});

const refusal = (request) => {
  if (request.writes.length > LIMITS.writes) return `${request.writes.length} writes in one commit`;
  if (request.serialize().length > LIMITS.request) return "the request is too large";
  for (const write of request.writes) {
    if (!write.has_update) continue;
    if (write.update.serialize().length > LIMITS.document) return "a document is too large";
    let values = 0;
    for (const value of write.update.fields.values()) values += value.has_array_value ? value.array_value.values.length : 1;
    if (values > LIMITS.values) return "a document has too many index entries";
  }
  return undefined;
};
// Why the documents are not as the writes require, which the emulator checks only in part, and not before it writes.
const overtaken = (writes) => {
  for (const write of writes.filter((one) => one.has_current_document)) {
    const condition = write.current_document;
    const { metadata } = state.getDocument(write.has_delete ? write.delete : write.update.name);
    const exists = metadata.hasExist;
    if (condition.has_exists && condition.exists !== exists)
      return exists ? told(status.ALREADY_EXISTS, "it exists") : told(status.NOT_FOUND, "it does not exist");
    if (!condition.has_update_time) continue;
    const { seconds, nanos } = condition.update_time;
    if (!exists || metadata.updatedAt.getTime() !== seconds * 1000 + nanos / 1e6)
      return told(status.FAILED_PRECONDITION, "the stored version does not match the required base version");
  }
  return undefined;
};

// How many commits are let through before one is held, and those that are held.
let holdAfter = -1;
const held = [];

const commit = handler("Commit");
const commitOriginal = commit.func;
commit.func = (call, callback) => {
  calls.set("Commit", (calls.get("Commit") ?? 0) + 1);
  if (holdAfter >= 0 && holdAfter-- === 0) return held.push(() => makeCommit(call, callback));
  return makeCommit(call, callback);
};
const rollback = handler("Rollback");
const rollbackOriginal = rollback.func;
rollback.func = (call, callback) => {
  transactions.delete(Buffer.from(call.request.transaction).toString("hex"));
  return rollbackOriginal(call, callback);
};
const makeCommit = (call, callback) => {
  const before = takeFailure("Commit", "before");
  if (before) return callback(told(before.code, "told to fail"), null);
  const { request } = call;
  const refused = refusal(request);
  if (refused) return callback(told(status.INVALID_ARGUMENT, refused), null);
  if (request.transaction.length) {
    const transaction = transactionOf(request.transaction);
    if (!transaction) return callback(told(status.INVALID_ARGUMENT, "no such transaction"), null);
    transactions.delete(Buffer.from(request.transaction).toString("hex"));
    if (isStale(transaction)) return callback(told(status.ABORTED, "too much contention on these documents"), null);
  }
  const outdated = overtaken(request.writes);
  if (outdated) return callback(outdated, null);
  for (const write of request.writes) write.current_document = undefined;
  commits += 1;
  for (const write of request.writes) versions.set(write.has_delete ? write.delete : write.update.name, commits);
  const after = takeFailure("Commit", "after");
  return commitOriginal(call, after ? () => callback(told(after.code, "told to fail"), null) : callback);
};

// What tests ask of it.
const control = http.createServer((request, response) => {
  const [, what, ...rest] = request.url.split("/");
  if (what === "dump") return response.end(JSON.stringify(state.getProject(rest[0]).toJSON()));
  if (what === "calls") return response.end(String(calls.get(rest[0]) ?? 0));
  if (what === "fail") {
    const [call, code, times, when, skip] = rest;
    failures.push({ call, code: Number(code), times: Number(times), when, skip: Number(skip) });
    return response.end();
  }
  if (what === "hold") {
    holdAfter = Number(rest[0]);
    return response.end();
  }
  if (what === "release") {
    held.splice(0).forEach((make) => make());
    return response.end();
  }
  response.statusCode = 404;
  return response.end();
});

server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
  if (error) {
    console.error(error.message);
    process.exit(1);
  }
  control.listen(0, "127.0.0.1", () => console.log("ready", bound, control.address().port));
});

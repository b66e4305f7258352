// Runs the Firestore emulator on loopback only: its own `start` would listen on every address.
// Arguments: the folder with its node_modules, and the port.
const { createRequire } = require("node:module");
const path = require("node:path");

const [folder, port] = process.argv.slice(2);
const installed = createRequire(path.join(path.resolve(folder), "package.json"));
const emulator = require(installed.resolve("@firestore-emulator/server"));
const { ServerCredentials } = installed("@grpc/grpc-js");

const { server } = new emulator.FirestoreServer();
server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
  if (error) {
    console.error(error.message);
    process.exit(1);
  }
  console.log("ready", bound);
});

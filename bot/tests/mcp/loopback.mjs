// For a server that would listen on every address: it listens on loopback, and says on which port.
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.log("ready", this.address().port));
  return listen.call(this, { host: "127.0.0.1", port: Number(port) }, ...rest);
};

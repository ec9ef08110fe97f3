// The official TypeScript client against a server that announces the capability; what it saw goes to stdout as JSON.
// node typescript_client.mjs MODULES CLIENT STDIO ERA COMMAND ARGS…   (CLIENT and STDIO are module names)
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, clientModule, stdioModule, era, command, ...args] = process.argv.slice(2);
const sdk = createRequire(join(modules, "package.json"));
const load = (name) => import(pathToFileURL(sdk.resolve(name)).href);
const { Client } = await load(clientModule);
const { StdioClientTransport } = await load(stdioModule);

const options = era === "modern" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "typescript", version: "1" }, options);
await client.connect(new StdioClientTransport({ command, args }));
const announced = client.getServerCapabilities()?.experimental?.toolValidation;
const { tools } = await client.listTools();
const call = (name, given) => client.callTool({ name, arguments: given });
const good = await call("book_flight", { city: "Oslo" });
const bad = await call("book_flight", { city: "Atlantis" });
const validated = announced?.supported === true
  ? await call(announced.method ?? "validate", { tool: "book_flight", arguments: { city: "Atlantis" } })
  : null;
console.log(JSON.stringify({ announced, tools: tools.map((tool) => tool.name), good, bad, validated }));
await client.close();

// A faultless server with one tool, in the TypeScript SDK: `node typescript_server.mjs FOLDER 1|2`.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, version] = process.argv.slice(2);
const require = createRequire(folder + "/");
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const { z } = await load("zod");
const first = version === "1";
const { McpServer } = await load(first ? "@modelcontextprotocol/sdk/server/mcp.js" : "@modelcontextprotocol/server");
const { StdioServerTransport } = await load(first ? "@modelcontextprotocol/sdk/server/stdio.js" : "@modelcontextprotocol/server/stdio");
const shape = {
  name: z.string().min(1).max(20), count: z.number().int().min(0).max(100), color: z.enum(["red", "blue"]).optional(),
  loud: z.boolean().optional(), tags: z.array(z.string()).optional(), place: z.object({ x: z.number(), y: z.number() }).optional(),
  when: z.union([z.number(), z.string()]).optional(), code: z.string().regex(/^[a-z]+$/).optional(),
  email: z.string().email().optional(), even: z.number().multipleOf(2).optional(),
  odd: z.number().refine((value) => value % 2 === 1, "must be odd, not even").optional(),
};
const server = new McpServer({ name: "adder", version: "1.0.0" });
server.registerTool("add", { description: "Add something.", inputSchema: first ? shape : z.object(shape).strict() },
  async () => ({ content: [{ type: "text", text: "added" }] }));
await server.connect(new StdioServerTransport());

// The words of zod 3, zod 4, ajv, valibot and TypeBox for each case; prints one JSON object, by library.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const here = new URL(".", import.meta.url);
const require = createRequire(process.argv[2] + "/");
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const read = (name) => JSON.parse(readFileSync(new URL(name, here)));
const cases = read("cases.json");
const found = {};
const add = (library, name, text) => ((found[library] ??= {})[name] = text);

const zod = (z) => z.object({
  name: z.string().min(1).max(20), count: z.number().int().min(0).max(100), color: z.enum(["red", "blue"]).optional(),
  loud: z.boolean().optional(), tags: z.array(z.string()).optional(), place: z.object({ x: z.number(), y: z.number() }).optional(),
  when: z.union([z.number(), z.string()]).optional(), code: z.string().regex(/^[a-z]+$/).optional(),
  email: z.string().email().optional(), even: z.number().multipleOf(2).optional(),
}).strict();
for (const name of ["zod3", "zod4"]) {
  const { z } = await load(name);
  const schema = zod(z);
  for (const [label, value] of Object.entries(cases)) {
    const result = schema.safeParse(value);
    if (!result.success) add(name, label, result.error.message);
  }
}
const Ajv = (await load("ajv")).default;
const ajv = new (Ajv.default ?? Ajv)({ allErrors: true, strict: false });
const validate = ajv.compile(read("schema.json"));
for (const [label, value] of Object.entries(cases)) if (!validate(value)) add("ajv", label, ajv.errorsText(validate.errors));

const v = await load("valibot");
const valibot = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(20)), count: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  color: v.optional(v.picklist(["red", "blue"])), loud: v.optional(v.boolean()), tags: v.optional(v.array(v.string())),
  place: v.optional(v.object({ x: v.number(), y: v.number() })), when: v.optional(v.union([v.number(), v.string()])),
  code: v.optional(v.pipe(v.string(), v.regex(/^[a-z]+$/))), email: v.optional(v.pipe(v.string(), v.email())),
  even: v.optional(v.pipe(v.number(), v.multipleOf(2))),
});
for (const [label, value] of Object.entries(cases)) {
  const result = v.safeParse(valibot, value);
  if (!result.success) add("valibot", label, result.issues.map((issue) => issue.message).join("\n"));
}
const { Value } = await load("@sinclair/typebox/value");
const { Type: T } = await load("@sinclair/typebox");
const typebox = T.Object({
  name: T.String({ minLength: 1, maxLength: 20 }), count: T.Integer({ minimum: 0, maximum: 100 }),
  color: T.Optional(T.Union([T.Literal("red"), T.Literal("blue")])), loud: T.Optional(T.Boolean()), tags: T.Optional(T.Array(T.String())),
  code: T.Optional(T.String({ pattern: "^[a-z]+$" })), even: T.Optional(T.Integer({ multipleOf: 2 })),
}, { additionalProperties: false });
for (const [label, value] of Object.entries(cases)) {
  const errors = [...Value.Errors(typebox, value)];
  if (errors.length) add("TypeBox", label, errors.map((error) => `${error.path}: ${error.message}`).join("\n"));
}
process.stdout.write(JSON.stringify(found));

// A real identity provider, made by others: node oidc_provider.mjs MODULES REDIRECT ALGORITHM METHOD
// It prints its issuer, and asks each user for a name: "ops" is in the group ops.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [modules, redirect, algorithm, method] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));
const { exportJWK, generateKeyPair } = await import(pathToFileURL(`${modules}/jose/dist/webapi/index.js`));

const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
const key = { ...(await exportJWK(privateKey)), alg: algorithm, use: "sig", kid: "one" };

const server = createServer().listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "toolvet",
        ...(method === "none" ? {} : { client_secret: "s3cret/of the:client" }),
        token_endpoint_auth_method: method,
        redirect_uris: [redirect],
        id_token_signed_response_alg: algorithm,
      },
    ],
    clientAuthMethods: [method],
    enabledJWA: { idTokenSigningAlgValues: [algorithm] },
    jwks: { keys: [key] },
    cookies: { keys: ["a key of a test"] },
    claims: { openid: ["sub", "groups"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        groups: id === "ops" ? ["ops", "crew"] : [],
        email: `${id}@ships.example`,
        email_verified: id !== "eve",
      }),
    }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});

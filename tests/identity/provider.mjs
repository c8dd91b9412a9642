// An OpenID provider on loopback: node provider.mjs CONFIG, a file of JSON:
//   { "packages": folder of node_modules, "port": 0, "client": { metadata of the one client }, "ready": file for the port }
// Any password is right. People are made as they are named; what groups they are in is told by the steering calls:
//   POST /steer/groups {"login": "ann", "groups": ["engineers"], "at": "userinfo" | "id_token"}
//   POST /steer/rotate   new signing keys; tokens from now on are signed with these alone
//   POST /steer/client   {metadata}: the client changes
//   POST /steer/away {"away": true}   every other call is answered with 503
import { readFileSync, writeFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(pathToFileURL(config.packages + '/'));
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);

const people = new Map();
let client = config.client;
let keys = [makeKey()];
let groupsInIdToken = false;
let away = false;
let issuer;
let handler;

function makeKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}

function person(login) {
  if (!people.has(login)) people.set(login, { groups: [] });
  return people.get(login);
}

function begin() {
  const provider = new Provider(issuer, {
    clients: [client],
    jwks: { keys },
    cookies: { keys: ['of tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: !groupsInIdToken,
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    findAccount: (_, login) => ({
      accountId: login,
      claims: () => ({
        sub: login, name: `Person ${login}`, preferred_username: login, email: `${login}@example.com`, email_verified: true,
        groups: person(login).groups,
      }),
    }),
  });
  provider.on('server_error', (_, error) => console.error('server_error', error));
  provider.on('backchannel.error', (_, error) => console.error('backchannel.error', error));
  provider.on('backchannel.success', () => console.error('backchannel.success'));
  handler = provider.callback();
}

async function bodyOf(request) {
  let text = '';
  for await (const piece of request) text += piece;
  return text ? JSON.parse(text) : {};
}

async function steer(request, response) {
  const wish = await bodyOf(request);
  switch (request.url) {
    case '/steer/groups':
      person(wish.login).groups = wish.groups;
      groupsInIdToken = wish.at === 'id_token';
      break;
    case '/steer/rotate':
      keys = [makeKey()];
      break;
    case '/steer/client':
      client = { ...client, ...wish };
      break;
    case '/steer/away':
      away = wish.away;
      break;
    default:
      response.writeHead(404).end();
      return;
  }
  begin();
  response.writeHead(200).end('{}');
}

const server = createServer((request, response) => {
  if (request.url.startsWith('/steer/')) steer(request, response);
  else if (away) response.writeHead(503).end();
  else handler(request, response);
});
server.listen(config.port, '127.0.0.1', () => {
  const { port } = server.address();
  issuer = `http://127.0.0.1:${port}`;
  begin();
  writeFileSync(config.ready + '.new', String(port));
  renameSync(config.ready + '.new', config.ready);
});

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { Client, connect, refTo } from './client.ts'
import { ApiError, defineKind, isForbidden, isInvalid, isNotFound, type ObjectOf } from './index.ts'
import {
  admissionPluginNames,
  ensureIdentity,
  fieldError,
  FieldPath,
  FollowedObject,
  IdentityError,
  installKinds,
  makeIdentity,
  openDataPlane,
  readLogOptions,
  startPlane,
  startServer,
  verifyAuditLog,
  type AdmissionHook,
  type AdmissionOptions,
  type AdmissionPluginName,
  type AuditOptions,
  type AuditPolicy,
  type AuthenticationOptions,
  type Authenticator,
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type AuthorizationOption,
  type Authorizer,
  type CustomResourceOptions,
  type DataPlaneOptions,
  type FieldError,
  type HandlerResponse,
  type Identity,
  type LogOptions,
  type OidcIssuer,
  type Plane,
  type PlaneOptions,
  type Route,
  type RouteRequest,
  type Server,
  type ServerOptions,
  type ServiceAccountOptions,
  type StreamHandler,
  type StreamRequest,
  type User,
} from './server.ts'

const Note = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Note',
  spec: z.object({ text: z.string() }),
})
type NoteObject = ObjectOf<typeof Note>

const key = { name: 'a', namespace: 'default' }
const note = { metadata: key, spec: { text: 'x' } }
const admin: User = { name: 'ann', groups: ['system:masters', 'system:authenticated'] }
const regularUser: User = { name: 'bob', groups: ['system:authenticated'] }

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-public-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

async function withServer(options: ServerOptions, use: (server: Server) => Promise<void>): Promise<void> {
  const server = await startServer({ kinds: [Note], ...options })
  try {
    await use(server)
  } finally {
    await server.stop({ graceMs: 0 })
  }
}

/** A request over the socket; gives the status and the body. */
async function request({ address }: Server, path: string, token?: string): Promise<[number, string]> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(`${address?.url}${path}`, { headers })
  return [answer.status, await answer.text()]
}

test('a plane collects garbage beside serving objects, and says when it is done', async () => {
  const options: PlaneOptions = { kinds: [Note], controllers: { quotas: false, tokens: false } }
  const plane: Plane = await startPlane(options)
  const client = new Client({ transport: plane.transport })
  const owner = await client.create(Note, note)
  await client.create(Note, { ...note, metadata: { ...key, name: 'child' } }, { owner })
  await client.delete(owner)
  await plane.controllers.idle()
  expect((await client.list(Note)).items).toEqual([])
  await plane.stop()
})

test('a data folder keeps identity and kubeconfig, and objects unless they are in memory', async () => {
  const options: DataPlaneOptions = { folder, kinds: [Note], controllers: false }
  for (const text of ['first', 'second']) {
    const { kubeconfig, isDurable, stop } = await openDataPlane(options)
    expect([isDurable, kubeconfig]).toEqual([true, join(folder, 'kubeconfig')])
    const client = await connect({ kubeconfig })
    const before = (await client.find(Note, key))?.spec.text
    expect(before).toBe(text === 'first' ? undefined : 'first')
    if (text === 'first') await client.create(Note, { ...note, spec: { text } })
    await client.close()
    await stop()
  }
})

test('a kind has a log, the server a path beside the API, and both know their caller', async () => {
  const log: StreamHandler = ({ object, query, user }: StreamRequest): HandlerResponse => {
    const { tailLines = 2 }: LogOptions = readLogOptions(query)
    const lines = [`${object.metadata.name} is read\n`, `by ${user.name}\n`]
    return { body: lines.slice(-tailLines).join('') }
  }
  const customResources: CustomResourceOptions[] = [{ kind: Note, streams: { log } }]
  const state: Route = {
    path: '/admin/state',
    handlers: { GET: ({ user }: RouteRequest) => ({ body: `on, ${user.name}` }) },
  }
  await withServer({ customResources, routes: [state] }, async (server) => {
    const client = new Client({ transport: server.as(admin) })
    const written = await client.create(Note, note)
    expect(await client.subresource('log').text(written)).toBe('a is read\nby ann\n')
    expect(await client.subresource('log').text(written, { parameters: { tailLines: 1 } })).toBe('by ann\n')
    expect((await client.raw({ path: '/admin/state' })).text()).toBe('on, ann')
  })
})

test('a stream waits for its object to change', async () => {
  const log: StreamHandler = (request) => {
    const object = new FollowedObject(request)
    return {
      body: (async function* () {
        yield Buffer.from('waits\n')
        const text = await object.until(
          ({ spec }) => (spec as NoteObject['spec']).text,
          (found) => found === 'new',
        )
        yield Buffer.from(`is ${text}\n`)
      })(),
    }
  }
  await withServer({ customResources: [{ kind: Note, streams: { log } }] }, async ({ transport }) => {
    const client = new Client({ transport })
    const written = await client.create(Note, note)
    const texts: string[] = []
    for await (const text of client.subresource('log').stream(written)) {
      texts.push(text)
      if (texts.length === 1) await client.patch(written, { spec: { text: 'new' } })
    }
    expect(texts).toEqual(['waits\n', 'is new\n'])
  })
})

test('an admission hook names the field that is wrong', async () => {
  const short: AdmissionHook<NoteObject> = {
    name: 'short',
    kind: Note,
    validate: ({ spec }): FieldError[] =>
      spec.text.length > 3 ? [fieldError.invalid(FieldPath.of('spec', 'text'), spec.text, 'is too long')] : [],
  }
  await withServer({ admission: { hooks: [short] } }, async ({ transport }) => {
    const client = new Client({ transport })
    await client.create(Note, note)
    const refused = client.create(Note, { ...note, metadata: { ...key, name: 'b' }, spec: { text: 'long' } })
    await expect(refused).rejects.toThrow('spec.text: Invalid value: "long": is too long')
  })
})

test('kinds can be installed while the server runs', async () => {
  const Late = defineKind({ group: 'demo.example.com', version: 'v1', kind: 'Late', spec: z.object({}) })
  await withServer({}, async ({ transport }) => {
    await installKinds(transport, [Late])
    const client = new Client({ transport })
    expect((await client.create(Late, { metadata: key, spec: {} })).metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
  })
})

test('admission plugins are chosen by the names of kube-apiserver', async () => {
  const disablePlugins: AdmissionPluginName[] = admissionPluginNames.filter((name) => name === 'Priority')
  await withServer({ admission: { disablePlugins } }, async ({ transport }) => {
    const client = new Client({ transport })
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pod = await client.create({ apiVersion: 'v1', kind: 'Pod', metadata: key, spec })
    expect(Object.keys(pod.spec)).not.toContain('priority')
  })
})

test('an identity names the server; files that others can read are refused', async () => {
  const identity: Identity = makeIdentity({ names: ['plane.test'] })
  await withServer({ listen: { identity, tls: false } }, async (server) => {
    expect(server.address?.token).toBe(identity.token)
    expect(await request(server, '/version', identity.token)).toEqual([200, expect.stringContaining('gitVersion')])
  })
  const made = await ensureIdentity(join(folder, 'identity'))
  expect((await ensureIdentity(join(folder, 'identity'))).token).toBe(made.token)
  chmodSync(join(folder, 'identity'), 0o755)
  await expect(ensureIdentity(join(folder, 'identity'))).rejects.toBeInstanceOf(IdentityError)
})

test('admission hooks complete and refuse writes', async () => {
  const greet: AdmissionHook<NoteObject> = {
    name: 'greet',
    kind: Note,
    mutate: (object) => ({ ...object, spec: { text: `hello ${object.spec.text}` } }),
    validate(object, { request }) {
      if (request.operation === 'DELETE') throw new ApiError('Forbidden', 'notes stay')
      return object.spec.text.length > 20
        ? [{ type: 'FieldValueTooLong', field: 'spec.text', body: 'Too long: may not be more than 20 bytes' }]
        : undefined
    },
  }
  const admission: AdmissionOptions = { hooks: [greet as AdmissionHook] }
  await withServer({ admission }, async ({ transport }) => {
    const client = new Client({ transport })
    expect((await client.create(Note, note)).spec.text).toBe('hello x')
    const long = { ...note, metadata: { ...key, name: 'long' }, spec: { text: 'x'.repeat(20) } }
    await expect(client.create(Note, long)).rejects.toSatisfy(isInvalid)
    await expect(client.delete(refTo(Note, key))).rejects.toSatisfy(isForbidden)
  })
})

test('an authorizer of your own is asked before RBAC', async () => {
  const asked: string[] = []
  const decide = ({ user, verb, resourcePath }: AuthorizationAttributes): AuthorizationDecision | undefined => {
    asked.push(`${user.name} ${verb} ${resourcePath?.resource ?? 'path'}`)
    if (user.name !== 'bob') return undefined
    return verb === 'get' ? { allowed: true, reason: '' } : { allowed: false, reason: 'bob only reads' }
  }
  const readers: Authorizer = decide
  const authorization: AuthorizationOption = [readers, 'rbac']
  await withServer({ authorization }, async (server) => {
    const bob = new Client({ transport: server.as(regularUser) })
    await expect(bob.get(Note, key)).rejects.toSatisfy(isNotFound)
    await expect(bob.create(Note, note)).rejects.toThrow(/bob only reads/)
    const ann = new Client({ transport: server.as(admin) })
    expect((await ann.create(Note, note)).metadata.name).toBe('a')
    expect(asked).toContain('bob get notes')
  })
})

test('callers are known by tokens, by functions, and by the accounts of the server', async () => {
  const byHeader: Authenticator = ({ request: { headers } }) =>
    headers['authorization'] === 'Bearer secret' ? admin : undefined
  const serviceAccounts: ServiceAccountOptions = { issuer: 'https://issuer.test' }
  const authentication: AuthenticationOptions = {
    tokens: { 'bobs-token': regularUser },
    authenticators: [byHeader],
    serviceAccounts,
  }
  await withServer({ listen: { tls: false }, authentication }, async (server) => {
    const notes = '/apis/demo.example.com/v1/notes'
    const codes = ['unknown', 'bobs-token', 'secret'].map(async (token) => (await request(server, notes, token))[0])
    expect(await Promise.all(codes)).toEqual([401, 403, 200])
    const [, document] = await request(server, '/.well-known/openid-configuration', 'secret')
    expect(JSON.parse(document)).toMatchObject({ issuer: 'https://issuer.test' })
  })
})

test('an OpenID issuer is checked when the server starts, and its tokens when they come', async () => {
  const issuer: OidcIssuer = {
    url: 'https://issuer.test',
    audiences: ['evenkeel'],
    username: { claim: 'email', prefix: 'oidc:' },
  }
  const wrong = { ...issuer, url: 'http://issuer.test' }
  await expect(startServer({ authentication: { oidc: [wrong] } })).rejects.toThrow(/https/)
  const word = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${word({ alg: 'none' })}.${word({ iss: issuer.url, aud: 'evenkeel', email: 'eve' })}.`
  await withServer({ listen: { tls: false }, authentication: { oidc: [issuer] } }, async (server) => {
    expect((await request(server, '/version', unsigned))[0]).toBe(401)
  })
})

test('the audit log says who did what, and shows when a line was changed', async () => {
  const path = join(folder, 'audit.log')
  const policy: AuditPolicy = {
    rules: [{ level: 'Request', verbs: ['create'], resources: [{ group: 'demo.example.com' }] }, { level: 'None' }],
    omitStages: ['RequestReceived'],
  }
  const audit: AuditOptions = { policy, file: { path }, chain: { key: 'kept elsewhere' } }
  await withServer({ audit }, async (server) => {
    const client = new Client({ transport: server.as(admin) })
    await client.create(Note, note)
    await client.list(Note)
  })
  const text = readFileSync(path, 'utf8')
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { verb: 'create', user: { username: 'ann' }, objectRef: { resource: 'notes', name: 'a' } },
  ])
  expect(await verifyAuditLog([path], { key: 'kept elsewhere' })).toMatchObject({ ok: true, lines: 1 })
  writeFileSync(path, text.replace('"ann"', '"eve"'))
  expect(await verifyAuditLog([path], { key: 'kept elsewhere' })).toMatchObject({ ok: false })
})

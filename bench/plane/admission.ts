/**
 * Admission: the cost that it adds to a write.
 *
 * The same update of a ConfigMap, one after the other, in process: without admission, with a hook of this process, with
 * a policy in CEL, with a webhook over HTTPS on loopback that is kept connected, and with all three configured for
 * another resource. The figure is the time of this process beyond the bare write; the last one should be zero. There is
 * no peer: upstream's server adds a network to every write.
 */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeIdentity, startServer } from 'evenkeel/server'
import type { Server, ServerOptions } from 'evenkeel/server'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

const path = '/api/v1/namespaces/default/configmaps'
const registration = '/apis/admissionregistration.k8s.io/v1'
const peerName = 'no peer'

interface Case {
  readonly name: string
  readonly options?: ServerOptions
  /** Prepares the server. */
  readonly setUp: (server: Server, webhook: Webhook) => Promise<void>
  /** A tenth of the writes is enough. */
  readonly isSlow?: true
}

export async function admissionBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const wanted = cases.filter(({ name }) => name.includes(only))
  if (wanted.length === 0) return
  const webhook = await startWebhook()
  try {
    const count = quick ? 50 : 4000
    const figures = new Map([bare, ...wanted].map((each) => [each, [] as number[]]))
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      for (const [each, costs] of figures) costs.push(await measure(each, webhook, each.isSlow ? count / 10 : count))
    }
    const costOf = (each: Case): number => median(figures.get(each)?.slice(1) ?? [])
    const base = costOf(bare)
    for (const each of wanted) {
      print({
        case: each.name,
        ours: costOf(each) - base,
        peer: undefined,
        peerName,
        unit: 'us cpu',
        lessIsBetter: true,
        more: { bareWriteUs: Math.round(base * 10) / 10 },
      })
    }
  } finally {
    await webhook.stop()
  }
}

const mine = [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
const other = [{ operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }]

const bare: Case = { name: 'admission: none', setUp: () => Promise.resolve() }

const cases: readonly Case[] = [
  {
    name: 'admission: in-process hook',
    options: {
      admission: { hooks: [{ name: 'hook', rules: [{ resources: ['configmaps'] }], validate: () => undefined }] },
    },
    setUp: () => Promise.resolve(),
  },
  { name: 'admission: policy', setUp: (server) => putPolicy(server, mine) },
  { name: 'admission: webhook', isSlow: true, setUp: (server, webhook) => putWebhook(server, webhook, mine) },
  {
    name: 'admission: all three, about something else',
    options: {
      admission: { hooks: [{ name: 'hook', rules: [{ resources: ['deployments'] }], validate: () => undefined }] },
    },
    setUp: async (server, webhook) => {
      await putPolicy(server, other)
      await putWebhook(server, webhook, other)
    },
  },
]

/** Microseconds of this process per write, the only stable figure on a busy machine; the webhook runs here too. */
async function measure({ options = {}, setUp }: Case, webhook: Webhook, count: number): Promise<number> {
  const server = await startServer(options)
  try {
    await setUp(server, webhook)
    await send(server, `POST ${path}`, object(0))
    for (let index = 1; index <= count / 10; index++) await send(server, `PUT ${path}/one`, object(index))
    const started = process.cpuUsage()
    for (let index = 1; index <= count; index++) await send(server, `PUT ${path}/one`, object(index))
    const { user, system } = process.cpuUsage(started)
    return (user + system) / count
  } finally {
    await server.stop()
  }
}

function object(number: number): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', labels: { app: 'bench' } },
    data: { number: String(number), text: 'x'.repeat(1000) },
  }
}

async function send(server: Server, request: `${'POST' | 'PUT'} /${string}`, body: object): Promise<void> {
  const [method = '', target = ''] = request.split(' ')
  const { status, body: answer } = await server.transport({
    method,
    target,
    headers: { 'content-type': 'application/json' },
    signal: new AbortController().signal,
    body: Buffer.from(JSON.stringify(body)),
  })
  if (status >= 300) throw new Error(`${request} returned ${status}: ${Buffer.from(answer as Uint8Array).toString()}`)
}

async function putPolicy(server: Server, resourceRules: readonly object[]): Promise<void> {
  await send(server, `POST ${registration}/validatingadmissionpolicies`, {
    metadata: { name: 'bench' },
    spec: {
      matchConstraints: { resourceRules },
      validations: [{ expression: 'object.metadata.labels.app == "bench" && size(object.data.text) < 10000' }],
    },
  })
  await send(server, `POST ${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'bench' },
    spec: { policyName: 'bench', validationActions: ['Deny'] },
  })
}

async function putWebhook(server: Server, { url, caBundle }: Webhook, rules: readonly object[]): Promise<void> {
  await send(server, `POST ${registration}/validatingwebhookconfigurations`, {
    metadata: { name: 'bench' },
    webhooks: [
      {
        name: 'a.bench.dev',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        clientConfig: { url, caBundle },
        rules,
      },
    ],
  })
}

interface Webhook {
  readonly url: string
  readonly caBundle: string
  stop(): Promise<void>
}

/** A webhook that allows everything. */
async function startWebhook(): Promise<Webhook> {
  const {
    server: { keyPem: key, certificatePem: cert },
    authority,
  } = makeIdentity({ clock: new SystemClock(), random: new SystemRandom(), names: ['127.0.0.1'] })
  const server = createServer({ key, cert }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => {
      pieces.push(piece)
    })
    request.on('end', () => {
      const {
        apiVersion,
        kind,
        request: { uid },
      } = JSON.parse(Buffer.concat(pieces).toString()) as { apiVersion: string; kind: string; request: { uid: string } }
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ apiVersion, kind, response: { uid, allowed: true } }))
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
      })
    },
  }
}

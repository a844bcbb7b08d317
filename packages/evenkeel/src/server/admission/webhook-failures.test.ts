import { createServer, type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { nextTurn, SystemClock } from '#base'
import { TestServer } from '../client.fixture.ts'
import { configuration, configurationsPath, webhookFor, WebhookServer, type Respond } from './webhook-server.fixture.ts'

const clock = new SystemClock()
const path = '/api/v1/namespaces/default/configmaps'
let hooks: WebhookServer
let tested: TestServer

beforeAll(async () => {
  hooks = await WebhookServer.start()
})
afterAll(() => hooks.stop())
beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
  hooks.reset()
})

async function configure(
  webhooks: readonly JsonObject[],
  kind: 'Mutating' | 'Validating' = 'Validating',
): Promise<void> {
  const { status, text } = await tested.ask('POST', configurationsPath(kind), {
    body: configuration(kind, 'a', webhooks),
  })
  expect([status, status === 201 ? '' : text]).toEqual([201, ''])
}

const create = (): ReturnType<TestServer['ask']> =>
  tested.ask('POST', path, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } })
const secret = 'internal-secret-4711'

/** What a webhook answers that is none, and what the client is told of it: never what stood there. */
const broken: readonly (readonly [name: string, Respond, RegExp])[] = [
  [
    'an error',
    (_, response) => {
      response.writeHead(500)
      response.end(secret)
      return undefined
    },
    /an error on the server \("unknown"\) has prevented the request from succeeding$/,
  ],
  [
    'a redirect',
    (_, response) => {
      response.writeHead(302, { location: `${hooks.url}/elsewhere` })
      response.end(secret)
      return undefined
    },
    /the server responded with the status code 302 but did not return more information$/,
  ],
  [
    'a refusal that is a Status',
    (_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', message: secret }))
      return undefined
    },
    /the server could not find the requested resource$/,
  ],
  [
    'no JSON',
    (_, response) => {
      response.end(secret)
      return undefined
    },
    /couldn't get version\/kind; json parse error: the response is no JSON$/,
  ],
  [
    'nothing',
    (_, response) => {
      response.end()
      return undefined
    },
    /0-length response with status code: 200 and content type: $/,
  ],
  [
    'a list',
    (_, response) => {
      response.end('[]')
      return undefined
    },
    /received invalid webhook response: couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value of type struct$/,
  ],
  [
    'another object',
    (_, response) => {
      response.end(JSON.stringify({ kind: 'Secret', data: { password: secret } }))
      return undefined
    },
    /received invalid webhook response: webhook response was absent$/,
  ],
  [
    'another protocol (row 10)',
    (_, response) => {
      response.socket?.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n${secret}`,
      )
      return undefined
    },
    /failed to call webhook: the server responded with the status code 101 but did not return more information$/,
  ],
  [
    'a hang-up',
    (_, response) => {
      response.socket?.destroy()
      return undefined
    },
    /failed to call webhook: Post "https:.*\?timeout=10s": EOF$/,
  ],
]

describe('163: a webhook that cannot be asked', () => {
  test.each(broken)('because it answers with %s refuses the write, or is left out', async (_, respond, message) => {
    await configure([webhookFor(hooks, 'v')])
    hooks.answers.set('v', respond)
    const { status, json, text } = await create()
    expect([status, json['reason']]).toEqual([500, 'InternalError'])
    expect(json['message']).toMatch(/^Internal error occurred: failed calling webhook "v\.test\.example\.com": /)
    expect(json['message']).toMatch(message)
    expect(text).not.toContain(secret)
    expect(hooks.taken().every((at) => at === 'v')).toBe(true)
    await tested.ask('PATCH', `${configurationsPath('Validating')}/a`, {
      body: [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }],
      type: 'application/json-patch+json',
    })
    expect((await create()).status).toBe(201)
  })

  test('because nobody is there', async () => {
    const nobody = createServer()
    await new Promise<void>((resolve) => {
      nobody.listen(0, '127.0.0.1', resolve)
    })
    const { port } = nobody.address() as AddressInfo
    await new Promise((resolve) => {
      nobody.close(resolve)
    })
    await configure([{ ...webhookFor(hooks, 'v'), clientConfig: { url: `https://127.0.0.1:${port}/v` } }])
    expect((await create()).json['message']).toBe(
      `Internal error occurred: failed calling webhook "v.test.example.com": failed to call webhook: Post "https://127.0.0.1:${port}/v?timeout=10s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    )
  })

  test('because it has a certificate nobody knows', async () => {
    await configure([{ ...webhookFor(hooks, 'v'), clientConfig: { url: `${hooks.url}/v` } }])
    expect((await create()).json['message']).toContain(
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    )
  })

  test('because it is a service, and this server has no network of services, unless it is told where they are', async () => {
    const clientConfig = { service: { namespace: 'default', name: 'hook', path: '/v' }, caBundle: hooks.caBundle }
    await configure([{ ...webhookFor(hooks, 'v'), clientConfig }])
    expect((await create()).json['message']).toContain(
      'Post "https://hook.default.svc/v?timeout=10s": service "default/hook" cannot be reached: this server has no cluster network',
    )
  })

  test('in the time it has', async () => {
    await tested.server.stop()
    const signals: AbortSignal[] = []
    tested = await TestServer.start({
      webhooks: {
        connect: () => ({
          close: () => undefined,
          transport: ({ signal }) =>
            new Promise((_, reject) => {
              signals.push(signal)
              signal.addEventListener('abort', () => {
                reject(signal.reason as Error)
              })
            }),
        }),
      },
    })
    await configure([webhookFor(hooks, 'v', { timeoutSeconds: 3 })])
    const answered = create()
    while (signals.length === 0) await nextTurn(clock)
    await tested.clock.advance(2999)
    expect(signals[0]?.aborted).toBe(false)
    await tested.clock.advance(1)
    expect((await answered).json['message']).toBe(
      `Internal error occurred: failed calling webhook "v.test.example.com": failed to call webhook: Post "${hooks.url}/v?timeout=3s": context deadline exceeded`,
    )
  })

  test('before the client has gone: nothing is written, whatever its failure policy', async () => {
    await configure([webhookFor(hooks, 'v', { failurePolicy: 'Ignore' })])
    const gone = new AbortController()
    hooks.answers.set('v', () => {
      gone.abort(new Error('the client has gone'))
      return undefined
    })
    await tested.ask('POST', path, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      signal: gone.signal,
    })
    expect((await tested.ask('GET', `${path}/a`)).status).toBe(404)
  })

  test('row 11: because it is a place that is never called', async () => {
    await configure([{ ...webhookFor(hooks, 'v'), clientConfig: { url: 'https://169.254.169.254/latest/meta-data' } }])
    expect((await create()).json['message']).toContain(
      'dial tcp 169.254.169.254: link-local and metadata addresses are not called',
    )
  })

  test('because its answer has no end', async () => {
    await configure([webhookFor(hooks, 'v')])
    hooks.answers.set('v', (_, response) => {
      const piece = Buffer.alloc(1024 * 1024, ' ')
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', more)
      response.on('error', () => undefined)
      more()
      return undefined
    })
    expect((await create()).json['message']).toContain('the response is larger than')
  })
})

describe('/metrics counts webhooks under the names of upstream', () => {
  const counted = async (pattern: RegExp): Promise<string[]> =>
    (await tested.ask('GET', '/metrics')).text
      .split('\n')
      .filter((line) => pattern.test(line))
      .sort()
  const dropConnection: Respond = (_, response) => {
    response.socket?.destroy()
    return undefined
  }

  test('by name, by what they say, and by what became of the write', async () => {
    await configure([webhookFor(hooks, 'v')])
    await create()
    hooks.answers.set('v', () => ({ allowed: false, status: { code: 403, message: 'no' } }))
    await create()
    hooks.answers.set('v', dropConnection)
    await create()
    await tested.ask('PATCH', `${configurationsPath('Validating')}/a`, {
      body: [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }],
      type: 'application/json-patch+json',
    })
    await tested.ask('DELETE', `${path}/a`)
    const v = 'name="v.test.example.com"'
    expect(await counted(/^apiserver_admission_webhook_(?:rejection_count|fail_open_count|request_total)/)).toEqual([
      `apiserver_admission_webhook_fail_open_count{${v},type="validating"} 1`,
      `apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",${v},operation="CREATE",rejection_code="503",type="validating"} 1`,
      `apiserver_admission_webhook_rejection_count{error_type="no_error",${v},operation="CREATE",rejection_code="403",type="validating"} 1`,
      `apiserver_admission_webhook_request_total{code="200",${v},operation="CREATE",rejected="false",type="validating"} 1`,
      `apiserver_admission_webhook_request_total{code="403",${v},operation="CREATE",rejected="true",type="validating"} 1`,
      `apiserver_admission_webhook_request_total{code="503",${v},operation="CREATE",rejected="true",type="validating"} 1`,
      `apiserver_admission_webhook_request_total{code="503",${v},operation="DELETE",rejected="false",type="validating"} 1`,
    ])
    expect(await counted(/^apiserver_admission_webhook_admission_duration_seconds_count/)).toEqual([
      `apiserver_admission_webhook_admission_duration_seconds_count{${v},operation="CREATE",rejected="false",type="validating"} 1`,
      `apiserver_admission_webhook_admission_duration_seconds_count{${v},operation="CREATE",rejected="true",type="validating"} 2`,
      `apiserver_admission_webhook_admission_duration_seconds_count{${v},operation="DELETE",rejected="false",type="validating"} 1`,
    ])
  })

  test('a patch that cannot be read is a failed call', async () => {
    await configure([webhookFor(hooks, 'm')], 'Mutating')
    hooks.answers.set('m', () => ({ patchType: 'JSONPatch', patch: '%%%' }))
    await create()
    expect(await counted(/^apiserver_admission_webhook_rejection_count/)).toEqual([
      'apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="m.test.example.com",operation="CREATE",rejection_code="503",type="admit"} 1',
    ])
  })

  test('what nobody waited for any more says nothing about a webhook', async () => {
    await configure([webhookFor(hooks, 'v', { failurePolicy: 'Ignore' })])
    const gone = new AbortController()
    hooks.answers.set('v', () => {
      gone.abort(new Error('the client has gone'))
      return undefined
    })
    await tested.ask('POST', path, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      signal: gone.signal,
    })
    expect(await counted(/^apiserver_admission_webhook/)).toEqual([])
  })
})

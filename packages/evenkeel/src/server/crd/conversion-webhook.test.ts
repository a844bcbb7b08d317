import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, UnstructuredObject } from '#api'
import { SystemClock, SystemRandom } from '#base'
import { issueServerCertificate, makeAuthority, type HttpsOptions, type Transport } from '#wire'
import { TestServer } from '../client.fixture.ts'
import { convertHost, definition, definitionPath, definitions, host, pathOf } from './conversion.fixture.ts'

interface Review {
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly desiredAPIVersion: string
    readonly objects: readonly UnstructuredObject[]
  }
}

const made = { clock: new SystemClock(), random: new SystemRandom() }
const authority = makeAuthority(made)
const caBundle = Buffer.from(authority.certificatePem).toString('base64')
const asked: { target: string; version: string; count: number }[] = []
let respond: ((review: Review) => unknown) | undefined
let hook: Server
let tested: TestServer

function answer({ apiVersion, request: { uid, desiredAPIVersion, objects } }: Review): JsonObject {
  const version = desiredAPIVersion.split('/')[1] ?? ''
  const convertedObjects = objects.map((object) => ({ ...convertHost(object, version), apiVersion: desiredAPIVersion }))
  return {
    apiVersion,
    kind: 'ConversionReview',
    response: { uid, result: { status: 'Success' }, convertedObjects: convertedObjects as unknown as JsonObject[] },
  }
}

beforeAll(async () => {
  const { keyPem: key, certificatePem: cert } = issueServerCertificate(authority, {
    ...made,
    names: ['127.0.0.1', 'hook.default.svc'],
  })
  hook = createServer({ key, cert }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => {
      pieces.push(piece)
    })
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(pieces).toString()) as Review
      asked.push({ target: request.url ?? '', version: review.apiVersion, count: review.request.objects.length })
      response.end(JSON.stringify((respond ?? answer)(review)))
    })
  })
  await new Promise<void>((resolve) => {
    hook.listen(0, '127.0.0.1', resolve)
  })
})
afterAll(() => {
  hook.closeAllConnections()
  hook.close()
})
beforeEach(() => {
  asked.length = 0
  respond = undefined
})
afterEach(async () => {
  await tested.server.stop()
})

const portOf = (): number => (hook.address() as AddressInfo).port
const byUrl = (versions: readonly string[] = ['v1']): object => ({
  strategy: 'Webhook',
  webhook: {
    clientConfig: { url: `https://127.0.0.1:${portOf()}/convert`, caBundle },
    conversionReviewVersions: versions,
  },
})
const byService = {
  strategy: 'Webhook',
  webhook: {
    clientConfig: { service: { namespace: 'default', name: 'hook', path: '/s', port: 8443 }, caBundle },
    conversionReviewVersions: ['v1'],
  },
}

async function start(conversion: object, options: Parameters<typeof TestServer.start>[0] = {}): Promise<void> {
  tested = await TestServer.start(options)
  const { status, headers } = await tested.ask('POST', definitions, { body: definition({ conversion }) })
  expect([status, headers['warning']]).toEqual([201, undefined])
  await tested.ask('POST', pathOf('v1'), { body: host('v1/a', { host: 'h', port: 1 }) })
}

describe('a conversion webhook', () => {
  test('is asked for objects of another version, and only then', async () => {
    await start(byUrl())
    expect((await tested.ask('GET', pathOf('v1', 'a'))).status).toBe(200)
    expect(asked).toEqual([])
    expect((await tested.ask('GET', pathOf('v2', 'a'))).json).toMatchObject({
      apiVersion: 'conv.example.com/v2',
      spec: { address: 'h:1' },
    })
    expect(asked).toEqual([{ target: '/convert?timeout=30s', version: 'apiextensions.k8s.io/v1', count: 1 }])
  })

  test('converts a list in one call, and is not asked again for what it told a list or a watch', async () => {
    await start(byUrl())
    for (const name of ['b', 'c', 'd'])
      await tested.ask('POST', pathOf('v1'), { body: host(`v1/${name}`, { host: name, port: 2 }) })
    expect((await tested.ask('GET', pathOf('v2'))).json['items']).toMatchObject(
      ['h:1', 'b:2', 'c:2', 'd:2'].map((address) => ({ spec: { address } })),
    )
    expect(asked.map(({ count }) => count)).toEqual([4])
    await tested.ask('GET', pathOf('v2'))
    const events = await Promise.all([1, 2, 3].map(() => tested.watch(`${pathOf('v2')}?watch=true`)))
    for (const reader of events) expect(await reader.take(4)).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d'])
    expect(asked).toHaveLength(1)
    await tested.ask('PATCH', pathOf('v1', 'a'), { type: 'application/merge-patch+json', body: { spec: { port: 3 } } })
    for (const reader of events)
      expect(await reader.next()).toMatchObject({ type: 'MODIFIED', object: { spec: { address: 'h:3' } } })
    expect(asked).toHaveLength(2)
    for (const reader of events) await reader.close()
  })

  test('speaks v1beta1 where that comes first', async () => {
    await start(byUrl(['v9', 'v1beta1', 'v1']))
    respond = (review) => ({ ...answer(review), apiVersion: undefined, kind: undefined })
    expect((await tested.ask('GET', pathOf('v2', 'a'))).status).toBe(200)
    expect(asked).toMatchObject([{ version: 'apiextensions.k8s.io/v1beta1' }])
  })

  test('that fails is quoted with what was to be converted', async () => {
    await start(byUrl())
    respond = (review) => ({
      ...answer(review),
      response: { uid: review.request.uid, result: { status: 'Failure', message: 'cannot do it' } },
    })
    const subject = 'conversion webhook for conv.example.com/v1, Kind=Host'
    expect(await tested.ask('GET', pathOf('v2', 'a'))).toMatchObject({
      status: 500,
      json: { message: `${subject} failed: cannot do it`, code: 500 },
    })
    expect((await tested.ask('DELETE', pathOf('v2', 'a'))).status).toBe(500)
    expect((await tested.ask('POST', pathOf('v2'), { body: host('v2/b', {}) })).json).toMatchObject({
      message: 'conversion webhook for conv.example.com/v2, Kind=Host failed: cannot do it',
    })
    respond = () => ({})
    expect((await tested.ask('GET', pathOf('v2', 'a'))).json['message']).toBe(
      `${subject} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`,
    )
    respond = undefined
    expect((await tested.ask('GET', pathOf('v2', 'a'))).status).toBe(200)
    expect((await tested.ask('DELETE', pathOf('v1', 'a'))).status).toBe(200)
  })

  test('of a definition that changes is asked at its new place', async () => {
    await start(byUrl())
    await tested.ask('GET', pathOf('v2', 'a'))
    const moved = {
      spec: {
        conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: `https://127.0.0.1:${portOf()}/moved` } } },
      },
    }
    expect(
      (await tested.ask('PATCH', definitionPath, { type: 'application/merge-patch+json', body: moved })).status,
    ).toBe(200)
    await tested.ask('GET', pathOf('v2', 'a'))
    expect(asked.map(({ target }) => target)).toEqual(['/convert?timeout=30s', '/moved?timeout=30s'])
  })

  test('behind a service is found by the embedding program, and nowhere without it', async () => {
    await start(byService)
    expect((await tested.ask('GET', pathOf('v2', 'a'))).json['message']).toMatch(
      /^conversion webhook for .* failed: Post "https:\/\/hook\.default\.svc:8443\/s\?timeout=30s": service "default\/hook" cannot be reached: this server has no cluster network/,
    )
    await tested.server.stop()
    const wanted: unknown[] = []
    await start(byService, {
      webhooks: {
        resolveService: (service) => {
          wanted.push(service)
          return { host: '127.0.0.1', port: portOf() }
        },
      },
    })
    expect((await tested.ask('GET', pathOf('v2', 'a'))).status).toBe(200)
    expect(wanted).toEqual([{ namespace: 'default', name: 'hook', port: 8443 }])
  })
})

describe('a conversion webhook over a given transport', () => {
  const reply =
    (status: number, text: string): Transport =>
    () =>
      Promise.resolve({ status, headers: { 'content-type': 'text/plain' }, body: Buffer.from(text) })
  const connect = (transport: Transport) => ({ connect: () => ({ transport, close: () => undefined }) })
  const messageFrom = async (transport: Transport): Promise<unknown> => {
    await start(byUrl(), { webhooks: connect(transport) })
    return (await tested.ask('GET', pathOf('v2', 'a'))).json['message']
  }

  test.each([
    [500, 'broken', 'an error on the server ("unknown") has prevented the request from succeeding'],
    [
      404,
      '{"kind":"Status","status":"Failure","message":"no such hook"}',
      'the server could not find the requested resource',
    ],
    [302, '', 'the server responded with the status code 302 but did not return more information'],
    [200, '', '0-length response with status code: 200 and content type: text/plain'],
    [
      200,
      '[]',
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct",
    ],
  ])('says what a %d of %j means', async (status, text, meaning) => {
    expect(await messageFrom(reply(status, text))).toBe(
      `conversion webhook for conv.example.com/v1, Kind=Host failed: ${meaning}`,
    )
  })

  test('has thirty seconds', async () => {
    const waiting: Transport = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error)
        })
      })
    await start(byUrl(), { webhooks: connect(waiting) })
    const read = tested.ask('GET', pathOf('v2', 'a'))
    await tested.clock.advance(30_000)
    expect((await read).json['message']).toBe(
      `conversion webhook for conv.example.com/v1, Kind=Host failed: Post "https://127.0.0.1:${portOf()}/convert?timeout=30s": context deadline exceeded`,
    )
  })

  test('is told where to go and whom to trust', async () => {
    const destinations: HttpsOptions[] = []
    await start(byUrl(), {
      webhooks: {
        connect: (destination) => {
          destinations.push(destination)
          return { transport: reply(500, ''), close: () => undefined }
        },
      },
    })
    await tested.ask('GET', pathOf('v2', 'a'))
    expect(destinations).toEqual([
      { origin: `https://127.0.0.1:${portOf()}`, caPem: authority.certificatePem.trim(), bytesMax: 67_108_864 },
    ])
  })
})

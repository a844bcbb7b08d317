import { describe, expect, test } from 'vitest'
import {
  applyJsonPatch,
  declareKind,
  fieldError,
  FieldPath,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
} from '#api'
import { createLogger, Metrics, placeOf, prettyLines, SimulatedClock, type LogRecord } from '#base'
import { deny } from './admission.ts'
import { defineConversion, spoke } from './conversion.ts'
import { Webhooks } from './webhooks.ts'

interface Website extends KubeObject {
  readonly spec: { readonly image: string; readonly replicas?: number }
}
interface OldWebsite extends KubeObject {
  readonly spec: { readonly picture: string }
}
const website = declareKind<Website>({ group: 'demo.example.com', version: 'v1', kind: 'Website' })
const oldWebsite = declareKind<OldWebsite>({ group: 'demo.example.com', version: 'v1alpha1', kind: 'Website' })

const site = (spec: object, metadata: object = {}): JsonObject => ({
  apiVersion: website.apiVersion,
  kind: 'Website',
  metadata: { name: 'web', namespace: 'shop', ...metadata },
  spec: spec as JsonObject,
})
const review = (request: object, apiVersion = 'admission.k8s.io/v1'): JsonObject => ({
  apiVersion,
  kind: 'AdmissionReview',
  request: {
    uid: 'r1',
    operation: 'CREATE',
    kind: { group: 'demo.example.com', version: 'v1', kind: 'Website' },
    name: 'web',
    namespace: 'shop',
    userInfo: { username: 'ann', groups: ['g'] },
    ...request,
  },
})

interface Called {
  readonly status: number
  readonly review: JsonObject
  readonly response: JsonObject
}

/** @param target the path, perhaps with a query. */
async function call(hooks: Webhooks, target: string, value: unknown): Promise<Called> {
  return send(hooks, target, { value })
}

async function send(
  hooks: Webhooks,
  target: string,
  { value, contentType = 'application/json' }: { value: unknown; contentType?: string },
): Promise<Called> {
  const body = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value))
  const answer = await hooks.transport({
    method: 'POST',
    target,
    headers: { 'content-type': contentType },
    body,
    signal: new AbortController().signal,
  })
  const parsed = JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as JsonObject
  return { status: answer.status, review: parsed, response: isJsonObject(parsed['response']) ? parsed['response'] : {} }
}

function patched(before: JsonValue, { patch }: JsonObject): JsonValue {
  return applyJsonPatch(before, JSON.parse(Buffer.from(String(patch), 'base64').toString()))
}

describe('Webhooks, mutating', () => {
  test('answers with the patch to what the handler gave back, warnings and audit annotations', async () => {
    const hooks = new Webhooks()
    const path = hooks.addMutating(website, (object, { warn, annotate, request }) => {
      warn(`hello ${request.user.username}`)
      annotate('seen', 'yes')
      return { ...object, spec: { replicas: 1, ...object.spec } }
    })
    expect(path).toBe('/mutate-demo-example-com-v1-website')
    const before = site({ image: 'a' })
    const { status, review: answer, response } = await call(hooks, path, review({ object: before }))
    expect([status, answer['apiVersion'], answer['kind']]).toEqual([200, 'admission.k8s.io/v1', 'AdmissionReview'])
    expect(response).toMatchObject({
      uid: 'r1',
      allowed: true,
      patchType: 'JSONPatch',
      warnings: ['hello ann'],
      auditAnnotations: { seen: 'yes' },
    })
    expect(patched(before, response)).toEqual(site({ image: 'a', replicas: 1 }))
  })

  test('sends no patch for an object that is fine, and does not ask about deletions', async () => {
    const hooks = new Webhooks()
    let calls = 0
    const path = hooks.addMutating(website, (object) => {
      calls++
      return object
    })
    expect((await call(hooks, path, review({ object: site({ image: 'a' }) }))).response).toEqual({
      uid: 'r1',
      allowed: true,
    })
    expect(
      (await call(hooks, path, review({ operation: 'DELETE', oldObject: site({ image: 'a' }), object: null })))
        .response,
    ).toEqual({ uid: 'r1', allowed: true })
    expect(calls).toBe(1)
  })

  test('keeps keys such as __proto__ and gives frozen objects', async () => {
    const hooks = new Webhooks()
    const before = JSON.parse(
      '{"apiVersion":"demo.example.com/v1","kind":"Website","metadata":{"name":"web","labels":{"__proto__":"x"}},"spec":{"image":"a"}}',
    ) as JsonObject
    const path = hooks.addMutating(website, (object) => {
      expect(Object.isFrozen(object.spec)).toBe(true)
      return { ...object, spec: { ...object.spec, replicas: 2 } }
    })
    const { response } = await call(hooks, path, review({ object: before }))
    const after = patched(before, response) as unknown as KubeObject
    expect(Object.keys(after.metadata.labels ?? {})).toEqual(['__proto__'])
    expect(({} as { x?: string }).x).toBeUndefined()
  })
})

describe('Webhooks, validating', () => {
  test('lets pass, refuses with field errors, with deny, and with whatever ApiError it is', async () => {
    const hooks = new Webhooks()
    const path = hooks.addValidating(website, (object, { oldObject, warn }) => {
      warn('looked')
      if (oldObject && oldObject.spec.image !== object.spec.image) throw deny('the image stays')
      return object.spec.image === '' ? [fieldError.required(FieldPath.of('spec', 'image'))] : []
    })
    expect((await call(hooks, path, review({ object: site({ image: 'a' }) }))).response).toEqual({
      uid: 'r1',
      allowed: true,
      warnings: ['looked'],
    })
    const invalid = await call(hooks, path, review({ object: site({ image: '' }) }))
    expect([invalid.status, invalid.response]).toMatchObject([
      200,
      {
        allowed: false,
        warnings: ['looked'],
        status: {
          code: 422,
          reason: 'Invalid',
          message: 'Website.demo.example.com "web" is invalid: spec.image: Required value',
        },
      },
    ])
    const denied = await call(
      hooks,
      path,
      review({ operation: 'UPDATE', object: site({ image: 'b' }), oldObject: site({ image: 'a' }) }),
    )
    expect(denied.response).toMatchObject({ allowed: false, status: { code: 403, message: 'the image stays' } })
  })

  test('is asked about deletions with the object that is to go, and knows a dry run', async () => {
    const hooks = new Webhooks()
    const seen: unknown[] = []
    const path = hooks.addValidating(website, (object, { request, dryRun }) => {
      seen.push([request.operation, object.metadata.name, dryRun])
      return undefined
    })
    await call(
      hooks,
      path,
      review({ operation: 'DELETE', oldObject: site({ image: 'a' }), object: null, dryRun: true }),
    )
    await call(hooks, path, review({ operation: 'CONNECT', object: { kind: 'PodExecOptions' } }))
    expect(seen).toEqual([['DELETE', 'web', true]])
  })

  test('answers v1beta1 in v1beta1', async () => {
    const hooks = new Webhooks()
    const path = hooks.addValidating(website, () => undefined)
    expect(
      (await call(hooks, path, review({ object: site({}) }, 'admission.k8s.io/v1beta1'))).review['apiVersion'],
    ).toBe('admission.k8s.io/v1beta1')
  })
})

describe('Webhooks, calls that are none', () => {
  const hooks = new Webhooks()
  const path = hooks.addValidating(website, () => undefined)
  const fine = review({ object: site({}) })

  test.each<[string, number, { value: unknown; contentType?: string }]>([
    ['a body of 8 MiB', 413, { value: Buffer.alloc(8 * 1024 * 1024, 0x20) }],
    ['a wrong content type', 400, { value: fine, contentType: 'text/plain' }],
    ['no content type', 400, { value: fine, contentType: '' }],
    ['an unknown version', 400, { value: { ...fine, apiVersion: 'admission.k8s.io/v2' } }],
    ['another kind', 400, { value: { ...fine, kind: 'ConversionReview' } }],
    ['no request', 400, { value: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } }],
    ['a request without uid', 400, { value: review({ uid: '' }) }],
    ['an unknown operation', 400, { value: review({ operation: 'READ' }) }],
    ['no JSON', 400, { value: Buffer.from('{') }],
    ['nothing', 400, { value: Buffer.alloc(0) }],
    ['a deep body', 400, { value: Buffer.from('['.repeat(5000) + ']'.repeat(5000)) }],
    ['null', 400, { value: null }],
  ])('case 125: %s is answered with %i in the form of a review', async (_, code, sent) => {
    const { status, review: answer, response } = await send(hooks, path, sent)
    expect([status, answer['kind'], response['allowed']]).toEqual([code, 'AdmissionReview', false])
    expect(response['status']).toMatchObject({ code, status: 'Failure' })
  })

  test('other paths and methods are not ours', async () => {
    const ask = (method: string, target: string): Promise<{ status: number }> =>
      hooks.transport({ method, target, headers: {}, signal: new AbortController().signal })
    expect((await ask('POST', '/other')).status).toBe(404)
    expect((await ask('GET', path)).status).toBe(405)
    expect((await ask('POST', '/__proto__')).status).toBe(404)
  })

  test('a path has one handler, and must be one', () => {
    expect(() => hooks.addValidating(website, () => undefined)).toThrow(RangeError)
    expect(() => hooks.addMutating(website, () => undefined, { path: 'x' })).toThrow(RangeError)
    expect(hooks.addMutating(website, () => undefined, { path: '/other-path' })).toBe('/other-path')
  })
})

describe('Webhooks, handlers that fail', () => {
  test('a mistake is answered with 500 without saying more, counted, and does no harm to the next call', async () => {
    const metrics = new Metrics()
    const hooks = new Webhooks({ metrics })
    let isBroken = true
    const path = hooks.addValidating(website, () => {
      if (isBroken) throw new TypeError('secret detail')
      return undefined
    })
    const { status, response } = await call(hooks, path, review({ object: site({}) }))
    expect([status, response['allowed'], response['uid'], JSON.stringify(response).includes('secret')]).toEqual([
      500,
      false,
      'r1',
      false,
    ])
    isBroken = false
    expect((await call(hooks, path, review({ object: site({}) }))).status).toBe(200)
    const text = metrics.render()
    expect(text).toContain('controller_runtime_webhook_panics_total 1')
    expect(text).toContain(`controller_runtime_webhook_requests_total{webhook="${path}",code="500"} 1`)
    expect(text).toContain(`controller_runtime_webhook_requests_in_flight{webhook="${path}"} 0`)
  })

  test.each(['admission', 'conversion'])(
    'F1: one that throws is logged with its line, and its stack once: %s',
    async (kind) => {
      const records: LogRecord[] = []
      const clock = new SimulatedClock()
      const hooks = new Webhooks({ clock, log: createLogger({ clock, sink: (each) => void records.push(each) }) })
      const thrown: Error[] = []
      const fail = (): never => {
        thrown.push(new TypeError(`no picture in the ${kind}`))
        throw thrown.at(-1) as Error
      }
      const request = { uid: 'c1', desiredAPIVersion: oldWebsite.apiVersion, objects: [site({})] }
      const [path, asked] =
        kind === 'admission'
          ? [hooks.addValidating(website, fail), review({ object: site({}) })]
          : [
              hooks.addConversion(
                defineConversion<Website>({
                  hub: website,
                  spokes: [spoke(oldWebsite, { toHub: fail, fromHub: fail })],
                }),
              ),
              { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request },
            ]
      for (let calls = 0; calls < 2; calls++) await call(hooks, path, asked)
      expect(records.map(({ level, message, fields }) => [level, message, fields['kind']])).toEqual([
        ['error', 'webhook handler failed', kind],
        ['error', 'webhook handler failed', kind],
      ])
      expect(records.map(({ fields }) => placeOf(fields['error']))).toEqual(thrown.map(placeOf))
      expect(placeOf(thrown[0])).toMatch(/webhooks\.test\.ts:\d+$/)
      let text = ''
      const write = prettyLines((written) => void (text += written), { color: false })
      for (const each of records) write(each)
      expect(text.match(new RegExp(`at=${placeOf(thrown[0])}`, 'g'))).toHaveLength(2)
      expect(text.match(/^ {4}TypeError: no picture/gm)).toHaveLength(1)
    },
  )

  test('one that throws no error at all, or hands back nonsense, is answered as well', async () => {
    const hooks = new Webhooks()
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what people throw
    const path = hooks.addMutating(website, () => Promise.reject('a string'))
    expect((await call(hooks, path, review({ object: site({}) }))).status).toBe(500)
    const cyclic = hooks.addMutating(
      website,
      (object) => {
        const made: Record<string, unknown> = { ...object }
        made['self'] = made
        return made as unknown as Website
      },
      { path: '/cyclic' },
    )
    expect((await call(hooks, cyclic, review({ object: site({}) }))).status).toBe(500)
  })

  test('one that takes too long is given up before the caller gives up, and its signal tells it', async () => {
    const clock = new SimulatedClock()
    const hooks = new Webhooks({ clock })
    let signal: AbortSignal | undefined
    const path = hooks.addValidating(website, (_, context) => {
      signal = context.signal
      return new Promise(() => undefined)
    })
    const answered = call(hooks, `${path}?timeout=5s`, review({ object: site({}) }))
    await clock.advance(4499)
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    expect(await answered).toMatchObject({ status: 504, response: { allowed: false, uid: 'r1' } })
    expect([signal?.aborted, clock.pending]).toEqual([true, 0])
  })
})

describe('Webhooks, converting', () => {
  const conversion = defineConversion<Website>({
    hub: website,
    spokes: [
      spoke(oldWebsite, {
        toHub: ({ spec }) => ({ spec: { image: spec.picture } }),
        fromHub: ({ spec }) => ({ spec: { picture: spec.image } }),
      }),
    ],
  })
  const hooks = new Webhooks()
  const path = hooks.addConversion(conversion)
  const ask = (desiredAPIVersion: string, objects: unknown): object => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'c1', desiredAPIVersion, objects },
  })
  const old = {
    apiVersion: oldWebsite.apiVersion,
    kind: 'Website',
    metadata: { name: 'web', uid: 'u' },
    spec: { picture: 'a' },
  }

  test('converts all objects there and back, and keeps their metadata', async () => {
    const there = await call(hooks, path, ask(website.apiVersion, [old, { ...site({ image: 'b' }) }]))
    expect(there.review).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: { uid: 'c1', result: { status: 'Success' } },
    })
    expect(there.response['convertedObjects']).toEqual([
      { ...old, apiVersion: website.apiVersion, spec: { image: 'a' } },
      site({ image: 'b' }),
    ])
    const back = await call(hooks, path, ask(oldWebsite.apiVersion, there.response['convertedObjects']))
    expect(back.response['convertedObjects']).toMatchObject([old, { spec: { picture: 'b' } }])
  })

  test('fails as a whole, and says why', async () => {
    const unknown = await call(hooks, path, ask('demo.example.com/v9', [old]))
    expect(unknown).toMatchObject({
      status: 200,
      response: {
        uid: 'c1',
        convertedObjects: [],
        result: { status: 'Failure', message: 'Website has no version demo.example.com/v9' },
      },
    })
    expect(
      (await call(hooks, path, ask(website.apiVersion, [old, { ...old, kind: 'Other' }]))).response['result'],
    ).toMatchObject({ status: 'Failure' })
    expect((await call(hooks, path, ask(website.apiVersion, [{ ...old, spec: null }]))).response).toMatchObject({
      convertedObjects: [],
      result: { status: 'Failure' },
    })
    expect((await call(hooks, path, { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v7' })).status).toBe(
      400,
    )
  })

  test('wants versions of one kind, each once', () => {
    const other = declareKind<OldWebsite>({ group: 'demo.example.com', version: 'v1', kind: 'Other' })
    const functions = { toHub: () => ({ spec: { image: '' } }), fromHub: () => ({ spec: { picture: '' } }) }
    expect(() => defineConversion({ hub: website, spokes: [spoke(other, functions)] })).toThrow(RangeError)
    expect(() =>
      defineConversion({ hub: website, spokes: [spoke(oldWebsite, functions), spoke(oldWebsite, functions)] }),
    ).toThrow(RangeError)
    expect(() => hooks.addConversion(conversion)).toThrow(RangeError)
  })
})

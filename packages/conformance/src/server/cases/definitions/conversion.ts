/**
 * Conversion webhooks: requests, valid responses, and the handling of invalid responses.
 */
import assert from 'node:assert/strict'
import type { Loose } from '../../answer.ts'
import { anything, defineCustom, definitionIn, eventually, hasCondition } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { converted, withHook } from '../../hook/hook.ts'
import type { Hook, Review } from '../../hook/hook.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const needs = ['callback'] as const
const versions = ['v1', 'v2'].map((name) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything } } },
  subresources: { status: {} },
}))

/** `spec.port` in v1 is `spec.listen.port` in v2. A server may send partial objects, so every field is optional. */
function moved(object: Loose): Fields {
  if (!('spec' in object)) return object
  const { port, listen, ...rest } = object.spec as { port?: number; listen?: { port: number } }
  return {
    ...object,
    spec: {
      ...rest,
      ...(port === undefined ? {} : { listen: { port } }),
      ...(listen === undefined ? {} : { port: listen.port }),
    },
  }
}

function define(place: Place, { clientConfig }: Pick<Hook, 'clientConfig'>): Promise<Custom> {
  return defineCustom(place, {
    versions,
    more: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } } },
  })
}

/** A case with the given webhook response and an object `one` stored in v1. */
function hookCase(
  { id, rule, respond }: { id: string; rule: string; respond: (review: Review) => unknown },
  run: (widgets: Custom, hook: Hook) => Promise<void>,
): ServerCase {
  return {
    id: `server/conversion/${id}`,
    rule,
    needs,
    run: (place) =>
      withHook(respond, async (hook) => {
        const widgets = await define(place, hook)
        ok(await widgets.create('one', { spec: { port: 1 }, metadata: { labels: { l: '1' } } }), 201)
        await run(widgets, hook)
      }),
  }
}

const good = (review: Review): unknown => converted(review, moved)

/** A CRD whose webhook has this bundle of authorities, as text. */
function withBundle(place: Place, pem: string): Fields {
  const clientConfig = { url: 'https://127.0.0.1:1/x', caBundle: Buffer.from(pem).toString('base64') }
  return definitionIn(place, {
    more: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } } },
  })
}

const bundles: readonly ServerCase[] = [
  ...Object.entries({
    'no-pem': '\n',
    'no-certificate': '-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n',
  }).map(([id, pem]): ServerCase => ({
    id: `server/conversion/ca-bundle-${id}`,
    rule: 'A CRD whose conversion webhook has an unreadable caBundle is not established.',
    async run(place) {
      const { metadata } = ok(await place.post('customresourcedefinitions', withBundle(place, pem)), 201)
      const { json } = await eventually(
        () => place.get('customresourcedefinitions', metadata.name),
        (answer) => hasCondition(answer.json, 'Established', 'False'),
      )
      expectMatch(json.status, {
        conditions: (conditions: readonly Fields[]) =>
          conditions.some(
            ({ type, reason, message }) =>
              type === 'Established' &&
              reason === 'InvalidCABundle' &&
              message === 'The conversion webhook CABundle is invalid',
          ),
      })
    },
  })),
  {
    id: 'server/conversion/ca-bundle-change',
    rule: 'A readable caBundle cannot become unreadable.',
    async run(place) {
      const { metadata } = ok(await place.post('customresourcedefinitions', withBundle(place, '')), 201)
      const body = { spec: { conversion: { webhook: { clientConfig: { caBundle: 'Cg==' } } } } }
      expectStatus(await place.patch('customresourcedefinitions', metadata.name, { body }), {
        code: 422,
        message:
          /: spec\.conversion\.webhookClientConfig\.caBundle: Invalid value: "Cg==": unable to load root certificates: unable to parse bytes as PEM block$/,
      })
    },
  },
]

const working: readonly ServerCase[] = [
  hookCase(
    { id: 'read', rule: 'A read in another version returns the object as the webhook converts it.', respond: good },
    async (widgets, { asked }) => {
      assert.equal(asked.length, 0, 'the stored version needs no conversion')
      expectMatch(ok(await widgets.get('one', 'v2'), 200), {
        apiVersion: `${widgets.group}/v2`,
        spec: { listen: { port: 1 }, port: undefined },
      })
      expectMatch(asked[0], {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        request: {
          uid: /^[0-9a-f-]{36}$/,
          desiredAPIVersion: `${widgets.group}/v2`,
          objects: [
            { apiVersion: `${widgets.group}/v1`, kind: 'Widget', metadata: { name: 'one' }, spec: { port: 1 } },
          ],
        },
      })
    },
  ),
  hookCase(
    {
      id: 'write',
      rule: 'A write in another version stores the object as the webhook converts it.',
      respond: good,
    },
    async (widgets) => {
      expectMatch(ok(await widgets.create('two', { spec: { listen: { port: 2 } } }, { version: 'v2' }), 201), {
        apiVersion: `${widgets.group}/v2`,
        spec: { listen: { port: 2 } },
      })
      expectMatch(ok(await widgets.get('two'), 200), { apiVersion: `${widgets.group}/v1`, spec: { port: 2 } })
      expectMatch(ok(await widgets.patch('two', { spec: { listen: { port: 3 } } }, { version: 'v2' }), 200), {
        spec: { listen: { port: 3 } },
      })
      expectMatch(ok(await widgets.get('two'), 200), { spec: { port: 3 }, metadata: { generation: 2 } })
    },
  ),
  hookCase({ id: 'list-and-watch', rule: 'Lists and watches are converted too.', respond: good }, async (widgets) => {
    ok(await widgets.create('two', { spec: { port: 2 } }), 201)
    expectMatch(ok(await widgets.list({}, { version: 'v2' }), 200), {
      items: [{ spec: { listen: { port: 1 } } }, { spec: { listen: { port: 2 } } }],
    })
    const stream = await widgets.watch({}, { version: 'v2' })
    const events = await stream.take(2)
    expectMatch(
      events.map(({ object }) => object.spec['listen']),
      [{ port: 1 }, { port: 2 }],
    )
    ok(await widgets.patch('one', { spec: { port: 9 } }))
    expectMatch(await stream.next(), {
      type: 'MODIFIED',
      object: { apiVersion: `${widgets.group}/v2`, spec: { listen: { port: 9 } } },
    })
  }),
  hookCase(
    {
      id: 'labels',
      rule: 'The webhook may change labels and annotations.',
      respond: (review) =>
        converted(review, (object) => ({
          ...object,
          metadata: { ...object.metadata, labels: { l: '2' }, annotations: { n: '1' } },
        })),
    },
    async (widgets) => {
      expectMatch(ok(await widgets.get('one', 'v2'), 200), {
        metadata: { labels: { l: '2' }, annotations: { n: '1' } },
      })
    },
  ),
  hookCase(
    {
      id: 'apply',
      rule: 'A manager that applies in two versions keeps one entry, and fields that it stops applying are removed.',
      respond: good,
    },
    async (widgets) => {
      ok(await widgets.apply('two', { spec: { port: 2, a: 'x' } }, { manager: 'm' }), 201)
      const next = ok(
        await widgets.apply('two', { spec: { listen: { port: 2 } } }, { manager: 'm', version: 'v2' }),
        200,
      )
      assert.deepEqual(next.spec, { listen: { port: 2 } })
      expectMatch(next.metadata, { managedFields: [{ manager: 'm', apiVersion: `${widgets.group}/v2` }] })
    },
  ),
]

interface Refusal {
  readonly id: string
  readonly rule: string
  readonly message: RegExp
  readonly respond: (review: Review) => unknown
}

const wrong: readonly Refusal[] = [
  {
    id: 'fails',
    rule: 'If the webhook fails to convert, the error contains its message.',
    message: /conversion webhook for .*Kind=Widget failed: no way/,
    respond: ({ apiVersion, kind, request: { uid } }) => ({
      apiVersion,
      kind,
      response: { uid, result: { status: 'Failure', message: 'no way' } },
    }),
  },
  {
    id: 'other-uid',
    rule: 'The uid of the response must match the request.',
    message: /conversion webhook for .*Kind=Widget failed: .*uid/,
    respond: (review) => converted({ ...review, request: { ...review.request, uid: 'other' } }, moved),
  },
  {
    id: 'too-few',
    rule: 'The webhook must return as many objects as it received.',
    message: /conversion webhook for .*Kind=Widget.* returned 0 objects, expected 1/,
    respond: (review) => converted({ ...review, request: { ...review.request, objects: [] } }, moved),
  },
  {
    id: 'other-name',
    rule: 'The webhook may not change the name.',
    message: /must have the same name: /,
    respond: (review) =>
      converted(review, (object) => ({ ...object, metadata: { ...object.metadata, name: 'other' } })),
  },
  {
    id: 'other-metadata-uid',
    rule: 'The webhook may not change the uid.',
    message: /must have the same UID: /,
    respond: (review) => converted(review, (object) => ({ ...object, metadata: { ...object.metadata, uid: 'other' } })),
  },
  {
    id: 'other-kind',
    rule: 'The webhook may not change the kind.',
    message: /returned invalid object at index 0: invalid kind \(expected Widget, received Gadget\)/,
    respond: (review) => converted(review, (object) => ({ ...object, kind: 'Gadget' })),
  },
  {
    id: 'not-converted',
    rule: 'The webhook must return the objects in the requested version.',
    message: /returned invalid object at index 0: invalid groupVersion/,
    respond: ({ apiVersion, kind, request: { uid, objects } }) => ({
      apiVersion,
      kind,
      response: { uid, result: { status: 'Success' }, convertedObjects: objects },
    }),
  },
  {
    id: 'nonsense',
    rule: 'A response that is not a ConversionReview is rejected.',
    message: /conversion webhook for .*Kind=Widget failed/,
    respond: () => ({ hello: 'world' }),
  },
]

const failing: readonly ServerCase[] = wrong.map(({ id, rule, message, respond }) =>
  hookCase({ id, rule, respond }, async (widgets) => {
    expectStatus(await widgets.get('one', 'v2'), { code: 500, message })
    ok(await widgets.get('one'), 200)
  }),
)

const absent: readonly ServerCase[] = [
  {
    id: 'server/conversion/unreachable',
    rule: 'If the webhook is unreachable, only the storage version is served.',
    needs,
    async run(place) {
      let clientConfig: Hook['clientConfig'] | undefined
      await withHook(good, (hook) => {
        ;({ clientConfig } = hook)
        return Promise.resolve()
      })
      const widgets = await define(place, { clientConfig: clientConfig ?? assert.fail() })
      ok(await widgets.create('one', { spec: { port: 1 } }), 201)
      expectStatus(await widgets.get('one', 'v2'), {
        code: 500,
        message: /conversion webhook for .*Kind=Widget failed: /,
      })
      ok(await widgets.get('one'), 200)
    },
  },
]

export const conversionCases: readonly ServerCase[] = [...bundles, ...working, ...failing, ...absent]

import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineKind, type KubeObject, type ObjectOf } from './index.ts'
import {
  defineConversion,
  deny,
  SelfSignedCertificates,
  spoke,
  Webhooks,
  type AdmissionContext,
  type CertificateSource,
  type Mutator,
  type Validator,
  type WebhooksOptions,
} from './webhook.ts'

const Website = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Website',
  spec: z.object({ image: z.string(), replicas: z.number().optional() }),
})
const OldWebsite = defineKind({
  group: 'demo.example.com',
  version: 'v1alpha1',
  kind: 'Website',
  spec: z.object({ picture: z.string() }),
})
type WebsiteObject = ObjectOf<typeof Website>

const metadata = { name: 'web', namespace: 'default' }

/** Asks the webhooks as an API server does, in process. */
async function ask(webhooks: Webhooks, target: string, review: object): Promise<Record<string, unknown>> {
  const { status, body } = await webhooks.transport({
    method: 'POST',
    target,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(review)),
    signal: new AbortController().signal,
  })
  expect(status).toBe(200)
  return (JSON.parse(Buffer.from(body as Uint8Array).toString()) as { response: Record<string, unknown> }).response
}

function reviewOf(spec: object, operation = 'CREATE'): object {
  const object = { apiVersion: Website.apiVersion, kind: 'Website', metadata, spec }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'r1',
      operation,
      kind: { group: 'demo.example.com', version: 'v1', kind: 'Website' },
      ...metadata,
      userInfo: { username: 'ann', groups: [] },
      ...(operation === 'DELETE' ? { oldObject: object } : { object }),
    },
  }
}

test('a mutator completes objects, and warns the caller', async () => {
  const note = ({ request, warn }: AdmissionContext<WebsiteObject>): void => {
    warn(`${request.user.username} did not set spec.replicas`)
  }
  const complete: Mutator<WebsiteObject> = (site, context) => {
    if (site.spec.replicas !== undefined) return undefined
    note(context)
    return { ...site, spec: { ...site.spec, replicas: 2 } }
  }
  const options: WebhooksOptions = { bytesMax: 10_000, timeoutMs: 1000 }
  const webhooks = new Webhooks(options)
  const path = webhooks.addMutating(Website, complete)
  expect([path, webhooks.paths]).toEqual(['/mutate-demo-example-com-v1-website', [path]])
  const { allowed, patch, warnings } = await ask(webhooks, path, reviewOf({ image: 'nginx' }))
  expect([allowed, warnings]).toEqual([true, ['ann did not set spec.replicas']])
  expect(JSON.parse(Buffer.from(String(patch), 'base64').toString())).toEqual([
    { op: 'add', path: '/spec/replicas', value: 2 },
  ])
  expect(await ask(webhooks, path, reviewOf({ image: 'nginx', replicas: 1 }))).toEqual({ uid: 'r1', allowed: true })
})

test('a validator refuses with a sentence', async () => {
  const guard: Validator<WebsiteObject> = (site, { request }) => {
    if (request.operation === 'DELETE') throw deny('websites stay')
    if (site.spec.image === 'latest') throw deny('name a version of the image')
    return undefined
  }
  const webhooks = new Webhooks()
  const path = webhooks.addValidating(Website, guard, { path: '/check' })
  expect(await ask(webhooks, path, reviewOf({ image: 'nginx' }))).toEqual({ uid: 'r1', allowed: true })
  for (const [review, message] of [
    [reviewOf({ image: 'latest' }), 'name a version of the image'],
    [reviewOf({ image: 'nginx' }, 'DELETE'), 'websites stay'],
  ] as const)
    expect(await ask(webhooks, path, review)).toMatchObject({ allowed: false, status: { code: 403, message } })
})

test('a conversion leads from any version to any other, through the hub', async () => {
  const webhooks = new Webhooks()
  const old = spoke(OldWebsite, {
    toHub: ({ spec }): Pick<WebsiteObject, 'spec'> => ({ spec: { image: spec.picture } }),
    fromHub: ({ spec }: WebsiteObject) => ({ spec: { picture: spec.image } }),
  })
  const path = webhooks.addConversion(defineConversion({ hub: Website, spokes: [old] }))
  const convert = async (object: KubeObject, desiredAPIVersion: string): Promise<unknown> => {
    const request = { uid: 'c1', desiredAPIVersion, objects: [object] }
    const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request }
    return (await ask(webhooks, path, review))['convertedObjects']
  }
  const picture = { apiVersion: OldWebsite.apiVersion, kind: 'Website', metadata, spec: { picture: 'nginx' } }
  const image = { apiVersion: Website.apiVersion, kind: 'Website', metadata, spec: { image: 'nginx' } }
  expect(await convert(picture, Website.apiVersion)).toEqual([image])
  expect(await convert(image, OldWebsite.apiVersion)).toEqual([picture])
})

test('certificates of our own are signed by the authority that callers are given', async () => {
  const own = new SelfSignedCertificates({ names: ['hooks.shop.svc', '127.0.0.1'] })
  const source: CertificateSource = own
  const { certificatePem } = await source.current()
  const certificate = new X509Certificate(certificatePem)
  expect(certificate.checkHost('hooks.shop.svc')).toBe('hooks.shop.svc')
  expect(certificate.verify(new X509Certificate(own.caPem).publicKey)).toBe(true)
  expect(Buffer.from(own.caBundle, 'base64').toString()).toBe(own.caPem)
})

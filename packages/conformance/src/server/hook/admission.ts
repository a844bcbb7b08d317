/**
 * Admission webhooks for one case: limited to the namespace of the case, and active before the case continues.
 *
 * A server may take a moment to apply a configuration. Every configuration ends with a fence, a webhook for a resource
 * that cases do not use: once it is called, so are the webhooks before it.
 */
import type { ServerResponse } from 'node:http'
import { eventually } from '../custom.ts'
import { ok } from '../expect.ts'
import { sample } from '../samples.ts'
import type { Fields } from '../samples.ts'
import type { Place } from '../target.ts'
import { withHttps } from './hook.ts'

/** A request as a webhook receives it; every field may actually be missing. */
interface LooseRequest {
  readonly [field: string]: LooseRequest
}

export interface AskedHook {
  /** The name that the case gave the webhook. */
  readonly hook: string
  readonly review: LooseRequest
  readonly request: LooseRequest
  /** Path and query. */
  readonly target: string
}

/** The fields of the `response` next to uid and `allowed: true`; undefined when the response was already written. */
type Respond = (asked: AskedHook, response: ServerResponse) => Fields | undefined

interface Setup {
  /** Configurations by name suffix; their webhooks by name. By default a webhook matches every write of a ConfigMap. */
  readonly mutating?: Readonly<Record<string, Hooks>>
  readonly validating?: Readonly<Record<string, Hooks>>
  /** By name of the webhook; others allow everything. */
  readonly answers?: Readonly<Record<string, Respond>>
}

type Hooks = Readonly<Record<string, Fields>>

/** The requests to webhooks since the last call. */
type Taken = () => AskedHook[]

export async function withWebhooks(
  place: Place,
  { mutating = {}, validating = {}, answers = {} }: Setup,
  run: (taken: Taken) => Promise<void>,
): Promise<void> {
  const asked: AskedHook[] = []
  const fences = new Set<string>()
  await withHttps(
    (target, body, response) => {
      const review = JSON.parse(body) as LooseRequest
      const one: AskedHook = {
        hook: target.slice(1).split('?')[0] ?? '',
        review,
        request: review['request'] as LooseRequest,
        target,
      }
      if (one.hook.startsWith('fence-')) fences.add(one.hook)
      else asked.push(one)
      const given = Object.hasOwn(answers, one.hook) ? answers[one.hook]?.(one, response) : {}
      if (given === undefined) return
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          apiVersion: review['apiVersion'],
          kind: review['kind'],
          response: { uid: one.request['uid'], allowed: true, ...given },
        }),
      )
    },
    async (server) => {
      const names = [
        ...(await configure(place, 'mutatingwebhookconfigurations', { server, configurations: mutating })),
        ...(await configure(place, 'validatingwebhookconfigurations', { server, configurations: validating })),
      ]
      await eventually(
        () => place.post('podtemplates', sample('podtemplates', 'fence'), { query: { dryRun: 'All' } }),
        () => names.every((name) => fences.has(name)),
      )
      try {
        await run(() => asked.splice(0))
      } finally {
        for (const kind of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const) {
          for (const suffix of Object.keys(kind.startsWith('m') ? mutating : validating))
            await place.delete(kind, place.unique(suffix))
        }
      }
    },
  )
}

interface Configuring {
  readonly server: { readonly url: string; readonly caBundle: string }
  readonly configurations: Readonly<Record<string, Hooks>>
}

/** @returns the names of the fences */
async function configure(
  place: Place,
  kind: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
  { server, configurations }: Configuring,
): Promise<string[]> {
  const fences: string[] = []
  for (const [suffix, hooks] of Object.entries(configurations)) {
    const fence = `fence-${kind[0] ?? ''}-${suffix}`
    fences.push(fence)
    const webhooks = [...Object.entries(hooks), [fence, { rules: [about('podtemplates')] }] as const].map(
      ([name, fields]) => webhook(place, name, { server, fields }),
    )
    ok(await place.post(kind, sample(kind, place.unique(suffix), { webhooks })), 201)
  }
  return fences
}

/** A rule for every operation on a core resource. */
export function about(...resources: readonly string[]): Fields {
  return { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources }
}

function webhook(
  place: Place,
  name: string,
  { server: { url, caBundle }, fields }: { server: Configuring['server']; fields: Fields },
): Fields {
  return {
    name: `${name}.judge.example.com`,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: `${url}/${name}`, caBundle },
    rules: [about('configmaps')],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } },
    ...fields,
  }
}

/** A patch in the response of a webhook. */
export function patch(...operations: readonly Fields[]): Fields {
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}

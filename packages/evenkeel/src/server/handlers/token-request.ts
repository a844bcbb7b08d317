/**
 * POST of a TokenRequest to a service account: the answer holds a new token.
 *
 * Nothing is stored: a token is valid because it is signed, and only while the objects that it is bound to exist.
 */
import {
  badRequest,
  conflict,
  fieldError,
  FieldPath,
  formatTime,
  invalid,
  isJsonObject,
  notFound,
  parseApiVersion,
  type FieldError,
  type GroupVersion,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from '#api'
import { assert, type Clock } from '#base'
import { builtinSchemas, type ObjectDraft, type Resource } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import type { Admission } from '../admission/write-admission.ts'
import type { ClaimReference } from '../auth/service-account-claims.ts'
import type { NewServiceAccountToken, TokenRequestPolicy } from '../auth/service-account-tokens.ts'
import type { CoreObjects } from '../registry/core-objects.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyObject } from '../response.ts'
import type { Storage } from '../storage/storage.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

const group = 'authentication.k8s.io'
const defaultSeconds = 3600
/**
 * The lifetime that the kubelet requests for mounted tokens: an hour, and seven seconds that identify such a request.
 */
const mountedSeconds = 3607
const extendedSeconds = 365 * 24 * 3600

interface TokenRequestServices {
  readonly storage: Storage
  readonly objects: CoreObjects
  readonly registry: Registry
  readonly admission: Admission
  readonly policy: TokenRequestPolicy
  readonly clock: Clock
}

export class TokenRequestHandler {
  readonly #storage: Storage
  readonly #objects: CoreObjects
  readonly #resource: Resource
  readonly #admission: Admission
  readonly #policy: TokenRequestPolicy
  readonly #clock: Clock

  constructor({ storage, objects, registry, admission, policy, clock }: TokenRequestServices) {
    this.#storage = storage
    this.#objects = objects
    this.#resource = tokenRequestResource(registry)
    this.#admission = admission
    this.#policy = policy
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const resource = this.#resource
    const choice = negotiateResponse(context, resource, { answer: 'document' })
    const { fieldValidation, dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const read = await parseObject(await readBody(context.request), bodyFormat(context), {
      kind: resource.kind,
      request: context.request,
    })
    const shaped = shapeObject(read, resource, { fieldValidation, warnings: context.warnings })
    const draft = (await this.#admission.admitDocument(shaped, { context, target, dryRun })) as ObjectDraft
    const answer = await this.#issue(draft, context, target)
    return replyObject(context, answer, {
      status: 201,
      resource,
      choice,
      clock: this.#clock,
    })
  }

  async #issue(draft: ObjectDraft, context: RequestContext, target: ResourceRef): Promise<UnstructuredObject> {
    const policy = this.#policy
    const { metadata } = draft
    const spec: JsonObjectDraft = isJsonObject(draft['spec']) ? draft['spec'] : {}
    checkMetadata(metadata, target)
    const account = await this.#findServiceAccount(metadata, target)
    const audiences =
      Array.isArray(spec['audiences']) && spec['audiences'].length > 0
        ? (spec['audiences'] as string[])
        : [...policy.tokens.audiences]
    const asked = typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : defaultSeconds
    checkSeconds(asked)
    const bound = isJsonObject(spec['boundObjectRef']) ? await this.#findBound(spec['boundObjectRef'], target) : {}
    const seconds = limitSeconds(asked, policy, context)
    const token = policy.tokens.issue({
      namespace: target.namespace,
      account,
      ...bound,
      audiences,
      ...lifetimeOf(seconds, { bound, audiences, policy }),
    })
    const nowMs = this.#clock.now()
    return {
      kind: 'TokenRequest',
      apiVersion: `${group}/v1`,
      metadata: {
        name: target.name,
        namespace: target.namespace,
        uid: account.uid,
        creationTimestamp: formatTime(nowMs),
      },
      spec: {
        audiences,
        expirationSeconds: seconds,
        boundObjectRef: spec['boundObjectRef'] ?? null,
      },
      status: { token, expirationTimestamp: formatTime(nowMs + seconds * 1000) },
    }
  }

  async #findServiceAccount({ uid = '' }: JsonObjectDraft, target: ResourceRef): Promise<ClaimReference> {
    const stored = await this.#storage.get(target.name, target)
    if (!stored) throw notFound({ kind: target.resource.plural, name: target.name })
    const found = stored.object.metadata.uid ?? ''
    if (uid !== '' && uid !== found)
      throw conflict(
        { group, kind: 'TokenRequest', name: target.name },
        `the UID in the token request (${String(uid)}) does not match the UID of the service account (${found})`,
      )
    return { name: target.name, uid: found }
  }

  async #findBound(
    { apiVersion = '', kind = '', name = '', uid = '' }: JsonObject,
    target: ResourceRef,
  ): Promise<BoundObjectRef> {
    const type = { ...versionOf(String(apiVersion)), kind: String(kind) }
    const plural = type.group === '' ? boundKinds[type.kind] : undefined
    if (plural === undefined)
      throw badRequest(`cannot bind token to object of type ${type.group}/${type.version}, Kind=${type.kind}`)
    const object = await this.#objects.find(plural, plural === 'nodes' ? '' : target.namespace, String(name))
    if (!object) throw notFound({ kind: plural, name: String(name) })
    const podSpec = plural === 'pods' ? ((object as { readonly spec?: JsonObject }).spec ?? {}) : {}
    if (plural === 'pods' && podSpec['serviceAccountName'] !== target.name)
      throw badRequest(
        `cannot bind token for serviceaccount ${JSON.stringify(target.name)} to pod running with different serviceaccount name.`,
      )
    const reference = { name: String(name), uid: object.metadata.uid ?? '' }
    if (uid !== '' && uid !== reference.uid)
      throw conflict(
        { kind: type.kind, name: reference.name },
        `the UID in the bound object reference (${String(uid)}) does not match the UID in record. The object might have been deleted and then recreated`,
      )
    if (plural !== 'pods') return plural === 'nodes' ? { node: reference } : { secret: reference }
    return { pod: reference, ...(await this.#nodeOf(podSpec['nodeName'])) }
  }

  /** The node of a pod, also one that no longer exists. */
  async #nodeOf(name: unknown): Promise<Pick<BoundObjectRef, 'node'>> {
    if (typeof name !== 'string' || name === '') return {}
    const node = await this.#objects.find('nodes', '', name)
    return { node: { name, uid: node?.metadata.uid ?? '' } }
  }
}

function checkMetadata({ name = '', namespace = '' }: JsonObjectDraft, target: ResourceRef): void {
  if (namespace !== '' && namespace !== target.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  if (name === '' || name === target.name) return
  throw invalid({ group, kind: 'TokenRequest', name: target.name }, [
    fieldError.invalid(FieldPath.of('metadata', 'name'), name, 'must match the service account name if specified'),
  ])
}

function checkSeconds(seconds: number): void {
  const path = FieldPath.of('spec', 'expirationSeconds')
  const mistakes: FieldError[] = []
  if (seconds < 600) mistakes.push(fieldError.invalid(path, seconds, 'may not specify a duration less than 10 minutes'))
  if (seconds > 2 ** 32)
    mistakes.push(fieldError.invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds'))
  if (mistakes.length > 0) throw invalid({ group, kind: 'TokenRequest', name: '' }, mistakes)
}

function limitSeconds(
  seconds: number,
  { maxExpirationSeconds: lifeSecondsMax }: TokenRequestPolicy,
  context: RequestContext,
): number {
  if (lifeSecondsMax <= 0 || seconds <= lifeSecondsMax) return seconds
  context.warnings.add(`requested expiration of ${seconds} seconds shortened to ${lifeSecondsMax} seconds`)
  return lifeSecondsMax
}

type BoundObjectRef = Pick<NewServiceAccountToken, 'pod' | 'secret' | 'node'>

function lifetimeOf(
  seconds: number,
  {
    bound,
    audiences,
    policy: { extendExpiration: extend, tokens },
  }: { bound: BoundObjectRef; audiences: readonly string[]; policy: TokenRequestPolicy },
): Pick<NewServiceAccountToken, 'lifeSeconds' | 'warnAfterSeconds'> {
  const isMounted =
    extend &&
    bound.pod !== undefined &&
    seconds === mountedSeconds &&
    audiences.every((one) => tokens.audiences.includes(one))
  return isMounted ? { lifeSeconds: extendedSeconds, warnAfterSeconds: seconds } : { lifeSeconds: seconds }
}

const boundKinds: Readonly<Record<string, 'pods' | 'secrets' | 'nodes' | undefined>> = {
  __proto__: null as never,
  Pod: 'pods',
  Secret: 'secrets',
  Node: 'nodes',
}

function versionOf(apiVersion: string): GroupVersion {
  return apiVersion.split('/').length > 2 ? { group: '', version: '' } : parseApiVersion(apiVersion)
}

/** A TokenRequest has no path of its own; its record is that of a review with another kind and schema. */
function tokenRequestResource(registry: Registry): Resource {
  const review = registry.find(group, 'v1', 'tokenreviews')
  const root = builtinSchemas('authentication.v1.TokenRequest')
  assert(review && root, 'reviews and requests of tokens are built in')
  return {
    ...review,
    kind: 'TokenRequest',
    schema: { definitions: builtinSchemas, name: 'authentication.v1.TokenRequest', root },
  }
}

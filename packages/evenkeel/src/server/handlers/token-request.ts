/**
 * POST of a TokenRequest to a service account: the answer holds a new token.
 *
 * Nothing is stored: a token is good because it is signed, as long as what it hangs on is there.
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
import { assert } from '#base'
import { builtinSchemas, type ObjectDraft, type Resource } from '#builtins'
import type { WireResponse } from '#wire'
import { admitDocument } from '../admission/write-admission.ts'
import type { ClaimReference } from '../auth/service-account-claims.ts'
import type { NewServiceAccountToken, ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { negotiateResponse, replyObject } from '../response.ts'
import { getStored } from '../storage/storage.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

export interface TokenRequestOptions {
  readonly tokens: ServiceAccountTokens
  /** The longest life of a token, whatever is asked for; 0 for no limit. */
  readonly maxExpirationSeconds: number
  /** Tokens of pods that ask for the usual hour live longer, for programs that never read them again. */
  readonly extendExpiration: boolean
}

const group = 'authentication.k8s.io'
const defaultSeconds = 3600
/** What is mounted into pods asks for this: an hour, and seven seconds by which it is recognized. */
const mountedSeconds = 3607
const extendedSeconds = 365 * 24 * 3600

/** Answers the request of a token. */
export async function createToken(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const resource = tokenRequestResource(server)
  const choice = negotiateResponse(call, resource, { answer: 'document' })
  const { fieldValidation, dryRun } = readWriteOptions(call.query, 'CreateOptions')
  const read = await parseObject(await readBody(call.request), bodyFormat(call.request), resource.kind)
  const shaped = shapeObject(read, resource, { fieldValidation, warnings: call.warnings })
  const draft = (await admitDocument(shaped as JsonObject, { call, target, server, dryRun })) as ObjectDraft
  const answer = await tokenRequestStatus(draft, {
    call,
    target,
    server,
    options: server.authentication.serviceAccounts,
  })
  return replyObject(call, answer as unknown as UnstructuredObject, { status: 201, resource, choice, server })
}

interface TokenRequestContext {
  readonly call: RequestContext
  readonly target: ResourceRef
  readonly server: ServerContext
  readonly options: TokenRequestOptions
}

async function tokenRequestStatus(
  draft: ObjectDraft,
  { call, target, server, options }: TokenRequestContext,
): Promise<JsonObject> {
  const { metadata } = draft
  const spec: JsonObjectDraft = isJsonObject(draft['spec']) ? (draft['spec'] as JsonObjectDraft) : {}
  checkMetadata(metadata, target)
  const account = await findServiceAccount(metadata, { target, server })
  const audiences =
    Array.isArray(spec['audiences']) && spec['audiences'].length > 0
      ? (spec['audiences'] as string[])
      : [...options.tokens.audiences]
  const asked = typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : defaultSeconds
  checkSeconds(asked)
  const bound = isJsonObject(spec['boundObjectRef']) ? await findBound(spec['boundObjectRef'], { target, server }) : {}
  const seconds = limitSeconds(asked, { call, options })
  const token = options.tokens.issue({
    namespace: target.namespace,
    account,
    ...bound,
    audiences,
    ...lifetimeOf(seconds, { bound, audiences, options }),
  })
  const nowMs = server.clock.now()
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
      boundObjectRef: (spec['boundObjectRef'] as JsonObject | undefined) ?? null,
    },
    status: { token, expirationTimestamp: formatTime(nowMs + seconds * 1000) },
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

async function findServiceAccount(
  { uid = '' }: JsonObjectDraft,
  { target, server }: { target: ResourceRef; server: ServerContext },
): Promise<ClaimReference> {
  const stored = await getStored(target.name, { server, target })
  if (!stored) throw notFound({ kind: target.resource.plural, name: target.name })
  const found = stored.object.metadata.uid ?? ''
  if (uid !== '' && uid !== found)
    throw conflict(
      { group, kind: 'TokenRequest', name: target.name },
      `the UID in the token request (${String(uid)}) does not match the UID of the service account (${found})`,
    )
  return { name: target.name, uid: found }
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
  { call, options: { maxExpirationSeconds: lifeSecondsMax } }: Pick<TokenRequestContext, 'call' | 'options'>,
): number {
  if (lifeSecondsMax <= 0 || seconds <= lifeSecondsMax) return seconds
  call.warnings.add(`requested expiration of ${seconds} seconds shortened to ${lifeSecondsMax} seconds`)
  return lifeSecondsMax
}

type BoundObjectRef = Pick<NewServiceAccountToken, 'pod' | 'secret' | 'node'>

function lifetimeOf(
  seconds: number,
  {
    bound,
    audiences,
    options: { extendExpiration: extend, tokens },
  }: { bound: BoundObjectRef; audiences: readonly string[]; options: TokenRequestOptions },
): Pick<NewServiceAccountToken, 'lifeSeconds' | 'warnAfterSeconds'> {
  const isMounted =
    extend &&
    bound.pod !== undefined &&
    seconds === mountedSeconds &&
    audiences.every((one) => tokens.audiences.includes(one))
  return isMounted ? { lifeSeconds: extendedSeconds, warnAfterSeconds: seconds } : { lifeSeconds: seconds }
}

async function findBound(
  { apiVersion = '', kind = '', name = '', uid = '' }: JsonObject,
  { target, server }: { target: ResourceRef; server: ServerContext },
): Promise<BoundObjectRef> {
  const type = { ...versionOf(String(apiVersion)), kind: String(kind) }
  const plural = type.group === '' ? boundKinds[type.kind] : undefined
  if (plural === undefined)
    throw badRequest(`cannot bind token to object of type ${type.group}/${type.version}, Kind=${type.kind}`)
  const object = await findObject(plural, {
    server,
    namespace: plural === 'nodes' ? '' : target.namespace,
    name: String(name),
  })
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
  return { pod: reference, ...(await nodeOf(podSpec['nodeName'], server)) }
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

/** Where a pod runs. A node that is not there any more is still named. */
async function nodeOf(name: unknown, server: ServerContext): Promise<Pick<BoundObjectRef, 'node'>> {
  if (typeof name !== 'string' || name === '') return {}
  const node = await findObject('nodes', { server, namespace: '', name })
  return { node: { name, uid: node?.metadata.uid ?? '' } }
}

/** An object of the core group as it is now. */
export async function findObject(
  plural: string,
  { server, namespace, name }: { server: ServerContext; namespace: string; name: string },
): Promise<UnstructuredObject | undefined> {
  const resource = server.registry.find('', 'v1', plural)
  assert(resource, `${plural} are built in`)
  return (await getStored(name, { server, target: { resource, namespace, name } }))?.object
}

/** Nothing is served under this name by itself; what is said of reviews holds for it too. */
function tokenRequestResource({ registry }: ServerContext): Resource {
  const review = registry.find(group, 'v1', 'tokenreviews')
  const root = builtinSchemas('authentication.v1.TokenRequest')
  assert(review && root, 'reviews and requests of tokens are built in')
  return {
    ...review,
    kind: 'TokenRequest',
    schema: { definitions: builtinSchemas, name: 'authentication.v1.TokenRequest', root },
  }
}

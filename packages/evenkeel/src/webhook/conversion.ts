/**
 * Conversion between the versions of a kind through one of them (the hub): every other version converts to it and back.
 * And the ConversionReview protocol around it.
 *
 * Invariants: all objects of a review are converted or none; the result has the desired version, and the metadata of the
 * original unless a converter set its own.
 */
import {
  badRequest,
  deepFreeze,
  internalError,
  isApiError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KubeObject,
  asJson,
  asKubeObject,
} from '#api'
import type { ReviewVersion } from './admission.ts'

/** A version that is not the hub. */
interface Spoke<Hub extends KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly toHub: (object: KubeObject) => Hub | Promise<Hub>
  readonly fromHub: (hub: Hub) => KubeObject | Promise<KubeObject>
}

/** Converts one version to the hub and back. `apiVersion` and `kind` need not be set. */
interface SpokeFunctions<T extends KubeObject, Hub extends KubeObject> {
  readonly toHub: (object: T) => Untyped<Hub> | Promise<Untyped<Hub>>
  readonly fromHub: (hub: Hub) => Untyped<T> | Promise<Untyped<T>>
}

type Untyped<T extends KubeObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> &
  Partial<Pick<T, 'apiVersion' | 'kind' | 'metadata'>>

export function spoke<T extends KubeObject, Hub extends KubeObject>(
  { apiVersion, kind }: Kind<T>,
  { toHub, fromHub }: SpokeFunctions<T, Hub>,
): Spoke<Hub> {
  return {
    apiVersion,
    kind,
    toHub: (object) => toHub(object as T) as Hub | Promise<Hub>,
    fromHub: (hub) => fromHub(hub) as KubeObject | Promise<KubeObject>,
  }
}

export interface Conversion {
  readonly group: string
  readonly kind: string
  convert(object: KubeObject, apiVersion: string): Promise<KubeObject>
}

/** All versions of one kind. @throws {RangeError} when they are not versions of the same kind. */
export function defineConversion<Hub extends KubeObject>({
  hub,
  spokes,
}: {
  hub: Kind<Hub>
  spokes: readonly Spoke<Hub>[]
}): Conversion {
  const byVersion = new Map(spokes.map((one) => [one.apiVersion, one]))
  for (const { apiVersion, kind } of spokes) {
    const isSame =
      kind === hub.kind && apiVersion.split('/')[0] === hub.apiVersion.split('/')[0] && apiVersion !== hub.apiVersion
    if (!isSame)
      throw new RangeError(`${kind} of ${apiVersion} is no other version of ${hub.kind} of ${hub.apiVersion}`)
  }
  if (byVersion.size !== spokes.length) throw new RangeError(`a version of ${hub.kind} is there twice`)
  const spokeOf = (apiVersion: string): Spoke<Hub> => {
    const found = byVersion.get(apiVersion)
    if (!found) throw badRequest(`${hub.kind} has no version ${apiVersion}`)
    return found
  }
  return {
    group: hub.group,
    kind: hub.kind,
    async convert(object, apiVersion) {
      if (object.apiVersion === apiVersion) return object
      const { kind } = hub
      const middle =
        object.apiVersion === hub.apiVersion
          ? (object as Hub)
          : finish(await spokeOf(object.apiVersion).toHub(object), object, { apiVersion: hub.apiVersion, kind })
      return apiVersion === hub.apiVersion
        ? middle
        : finish(await spokeOf(apiVersion).fromHub(middle), object, { apiVersion, kind })
    },
  }
}

function finish<T extends KubeObject>(
  converted: T,
  original: KubeObject,
  type: { apiVersion: string; kind: string },
): T {
  return deepFreeze({
    ...converted,
    ...type,
    metadata: (converted as Partial<KubeObject>).metadata ?? original.metadata,
  })
}

/** A decoded request. */
interface ConversionRequest {
  readonly version: ReviewVersion
  readonly uid: string
  readonly apiVersion: string
  readonly objects: readonly JsonValue[]
}

/** @throws {ApiError} `BadRequest`, when it is no review of a version we know. */
export function readConversion(value: JsonValue): ConversionRequest {
  const { apiVersion, kind, request } = isJsonObject(value) ? value : {}
  const version = String(apiVersion).replace(/^apiextensions\.k8s\.io\//, '')
  if (kind !== 'ConversionReview' || (version !== 'v1' && version !== 'v1beta1'))
    throw badRequest(
      `expected a ConversionReview of apiextensions.k8s.io/v1 or v1beta1, got ${JSON.stringify(kind ?? null)} of ${JSON.stringify(apiVersion ?? null)}`,
    )
  const { uid, desiredAPIVersion, objects } = isJsonObject(request) ? request : {}
  if (typeof uid !== 'string' || typeof desiredAPIVersion !== 'string' || !Array.isArray(objects))
    throw badRequest('the request of the ConversionReview has no uid, desiredAPIVersion or objects')
  return { version, uid, apiVersion: desiredAPIVersion, objects: objects as readonly JsonValue[] }
}

/** Converts all objects of a request; one failure fails all, because the server needs all or nothing. */
export async function convertAll(
  { objects, apiVersion }: ConversionRequest,
  conversions: ReadonlyMap<string, Conversion>,
): Promise<KubeObject[]> {
  const converted: KubeObject[] = []
  for (const object of objects) {
    if (!isJsonObject(object) || !isJsonObject(object['metadata']) || typeof object['apiVersion'] !== 'string')
      throw badRequest('ConversionReview contains an item that is not an object with apiVersion and metadata')
    const conversion = conversions.get(conversionKey(object['apiVersion'], String(object['kind'])))
    if (!conversion)
      throw badRequest(`no conversion is registered for ${String(object['kind'])} of ${object['apiVersion']}`)
    converted.push(await conversion.convert(asKubeObject(deepFreeze(object)), apiVersion))
  }
  return converted
}

export function conversionKey(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''}/${kind}`
}

/** The response: the objects, or the error. */
export function writeConversion(
  outcome: readonly KubeObject[] | { readonly error: unknown },
  { version, uid }: { version: ReviewVersion; uid: string },
): JsonObject {
  const isFailure = 'error' in outcome
  const message = isFailure ? (isApiError(outcome.error) ? outcome.error : internalError(outcome.error)).message : ''
  const response = {
    uid,
    convertedObjects: isFailure ? [] : outcome.map(asJson),
    result: isFailure ? { status: 'Failure', message } : { status: 'Success' },
  }
  return { apiVersion: `apiextensions.k8s.io/${version}`, kind: 'ConversionReview', response }
}

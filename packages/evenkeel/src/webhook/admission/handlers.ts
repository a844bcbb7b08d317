/**
 * What people write: a function that completes objects, a function that judges them; and what a review means to it.
 *
 * Invariants: objects are frozen, a handler gives back a new one; nothing that is deleted is completed; what a handler
 * says by `ApiError` or by field errors is its decision, anything else it throws is a mistake of its own.
 */
import { ApiError, deepFreeze, invalid, isApiError, parseApiVersion } from '#api'
import type { FieldError, JsonValue, Kind, KubeObject } from '#api'
import { silentLogger } from '#base'
import type { Logger } from '#base'
import { diffJson } from './json-diff.ts'
import type { AdmissionRequest, AdmissionDecision } from './review.ts'

/** What a handler is given beside the object. */
export interface AdmissionContext<T extends KubeObject = KubeObject> {
  readonly request: AdmissionRequest<T>
  /** The object as it is stored; absent when it is new. */
  readonly oldObject: T | undefined
  /** Nothing will be stored. */
  readonly dryRun: boolean
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Tells the caller something; the object is taken all the same. */
  warn(text: string): void
  /** Puts something into the audit log of the server. */
  annotate(key: string, value: string): void
}

/** Gives the object as it should be, or nothing when it is fine. */
export type Mutator<T extends KubeObject> = (
  object: T,
  context: AdmissionContext<T>,
) => T | undefined | Promise<T | undefined>

/**
 * Refuses by throwing an `ApiError` ({@link deny}) or by giving back what is wrong with which field. For a deletion the
 * object is the one that is to go.
 */
export type Validator<T extends KubeObject> = (
  object: T,
  context: AdmissionContext<T>,
) => readonly FieldError[] | undefined | Promise<readonly FieldError[] | undefined>

/** An answer to a request, or a throw when there is none. */
export type AdmissionHandler = (request: AdmissionRequest, options: HandlerOptions) => Promise<AdmissionDecision>

interface HandlerOptions {
  readonly signal: AbortSignal
  readonly log?: Logger
}

/** Refuses what was asked for, with a sentence for whoever asked: `throw deny('replicas must be odd')`. */
export function deny(why: string): ApiError {
  return new ApiError('Forbidden', why)
}

export function mutatingHandler<T extends KubeObject>(kind: Kind<T>, mutate: Mutator<T>): AdmissionHandler {
  return async (request, options) => {
    const object = request.object
    if (request.operation === 'DELETE' || request.operation === 'CONNECT' || !object) return {}
    return decide(kind, { request, ...options }, async (context) => {
      const changed = await mutate(context.request.object as T, context)
      return {
        patch: changed === undefined ? [] : diffJson(object as unknown as JsonValue, changed as unknown as JsonValue),
      }
    })
  }
}

export function validatingHandler<T extends KubeObject>(kind: Kind<T>, validate: Validator<T>): AdmissionHandler {
  return async (request, options) => {
    const object = request.operation === 'DELETE' ? request.oldObject : request.object
    if (request.operation === 'CONNECT' || !object) return {}
    return decide(kind, { request, ...options }, async (context) => {
      const errors = (await validate(object as T, context)) ?? []
      if (errors.length === 0) return {}
      const { group } = parseApiVersion(request.apiVersion)
      return {
        refusal: invalid({ group, kind: request.kind, name: request.name ?? object.metadata.name ?? '' }, errors),
      }
    })
  }
}

async function decide<T extends KubeObject>(
  kind: Kind<T>,
  { request, signal, log = silentLogger }: HandlerOptions & { request: AdmissionRequest },
  run: (context: AdmissionContext<T>) => Promise<AdmissionDecision>,
): Promise<AdmissionDecision> {
  const warnings: string[] = []
  const annotations = new Map<string, string>()
  const frozen = deepFreeze(request) as AdmissionRequest<T>
  const context: AdmissionContext<T> = {
    request: frozen,
    oldObject: frozen.oldObject,
    dryRun: frozen.dryRun,
    signal,
    log: log.child({ kind: kind.kind, object: request.name, operation: request.operation }),
    warn: (text) => {
      if (text !== '') warnings.push(text)
    },
    annotate: (key, value) => {
      annotations.set(key, value)
    },
  }
  const extras = (): AdmissionDecision => ({ warnings, auditAnnotations: Object.fromEntries(annotations) })
  try {
    return { ...(await run(context)), ...extras() }
  } catch (error) {
    if (!isApiError(error)) throw error
    return { refusal: error, ...extras() }
  }
}

/**
 * The two rounds of admission around one write, as handlers use them.
 *
 * A handler calls {@link Admission.forWrite} first: no plugin handles most writes, and then nothing is done. The mutating
 * round gets the object that the client wants, before the server adds anything. The validating round gets the object
 * that would be written, inside the retry after a lost race, so that its old object is the replaced one.
 */
import {
  dedupeOwnerReferences,
  FieldPath,
  formatFieldError,
  managedFieldsError,
  validateManagedFields,
  type JsonObject,
  type ManagedFieldsEntry,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import type { ObjectDraft } from '@evenkeel/builtins'
import { shapeObject } from '../handlers/request-body.ts'
import { optionsObject } from '../handlers/write-options.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import {
  ReinvocationContext,
  type AdmissionAttributes,
  type AdmissionChain,
  type AdmissionOperation,
} from './admission.ts'
import { bodyResource, replaceDraft } from './conversion.ts'

/** The part of a request that admission needs; writes of the server itself have no user. */
export type WriteRequest = Pick<RequestContext, 'warnings'> &
  Partial<Pick<RequestContext, 'user' | 'query' | 'request' | 'dueMs' | 'objectBytesMax'>> & {
    /** Adds an annotation to the audit event, if there is one. */
    annotate?(key: string, value: string): void
  }

interface WriteAdmissionOptions {
  readonly context: WriteRequest
  readonly target: ResourceRef
  readonly dryRun: boolean
  /** DeleteOptions; null for a connection; those of other operations are read from the query. */
  readonly options?: JsonObject | null
}

/** The admission stage: the chain of plugins, as handlers use it. */
export class Admission {
  readonly #chain: AdmissionChain

  constructor(chain: AdmissionChain) {
    this.#chain = chain
  }

  /** Whether code of the embedder has to see a write. */
  isLocal(write: Pick<AdmissionAttributes, 'operation' | 'target'>): boolean {
    return this.#chain.isLocal(write)
  }

  /** The admission of a write; undefined when no plugin handles it. */
  forWrite(
    operation: AdmissionOperation,
    { context, target, dryRun, options }: WriteAdmissionOptions,
  ): WriteAdmission | undefined {
    if (!this.#chain.handles({ operation, target })) return undefined
    const kind = operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions'
    return new WriteAdmission(this.#chain, {
      operation,
      target,
      user: context.user,
      dryRun,
      options:
        options === undefined
          ? context.query
            ? optionsObject(context.query, kind)
            : { kind, apiVersion: 'meta.k8s.io/v1' }
          : options,
      warn: (text) => {
        context.warnings.add(text)
      },
      annotate: (key, value) => {
        context.annotate?.(key, value)
      },
      reinvocation: new ReinvocationContext(),
      ...(context.request && { signal: context.request.signal }),
      ...(context.dueMs !== undefined && { dueMs: context.dueMs }),
    })
  }

  /**
   * Takes a document that is never stored (an Eviction, a review, the options of a connection) through both rounds.
   *
   * @returns the document after mutation; the given one when no plugin handles it
   * @throws {ApiError} when a plugin refuses it
   */
  async admitDocument(
    given: JsonObject,
    write: WriteAdmissionOptions,
    { operation = 'CREATE' }: { operation?: 'CREATE' | 'CONNECT' } = {},
  ): Promise<JsonObject> {
    const admission = this.forWrite(operation, write)
    if (admission === undefined) return given
    const value = parseJson(stringifyJson(given)) as JsonObject
    const draft = shapeObject({ value, duplicates: [] }, bodyResource(write.target), {
      fieldValidation: 'Ignore',
      warnings: write.context.warnings,
    })
    // Options have no metadata. Plugins find it empty, and webhooks do not see it.
    if (operation === 'CONNECT') Object.defineProperty(draft, 'metadata', { value: {} })
    await admission.mutate(draft)
    await admission.validate(draft)
    return draft
  }
}

export class WriteAdmission {
  readonly #admission: AdmissionChain
  readonly #admitted: AdmissionAttributes

  constructor(admission: AdmissionChain, admitted: AdmissionAttributes) {
    this.#admission = admission
    this.#admitted = admitted
  }

  /**
   * The mutating round: changes the draft in place; the result is an object of the kind.
   *
   * @param old the current object; absent for a create
   * @throws {ApiError} when a plugin refuses the write
   */
  async mutate(draft: ObjectDraft, old?: UnstructuredObject): Promise<void> {
    const { target, warn } = this.#admitted
    const managers = draft.metadata['managedFields']
    if (
      !(await this.#admission.mutate(draft, {
        ...this.#admitted,
        reinvocation: new ReinvocationContext(),
        ...(old && { old }),
      }))
    )
      return
    replaceDraft(draft, draft, bodyResource(target))
    keepManagers(draft, managers, warn)
    dedupeOwners(draft, warn)
  }

  /**
   * The validating round.
   *
   * @param object the object to write; absent for a deletion
   * @param old the object to replace or delete
   * @throws {ApiError} when a plugin refuses the write
   */
  async validate(object: UnstructuredObject | undefined, old?: UnstructuredObject): Promise<void> {
    const { target } = this.#admitted
    // A generated name exists only now.
    const name = target.name === '' && object !== undefined ? (object.metadata.name ?? '') : target.name
    await this.#admission.validate(object, { ...this.#admitted, target: { ...target, name }, ...(old && { old }) })
  }
}

/** Plugins cannot break managed fields: invalid ones are replaced by the previous ones. */
function keepManagers(
  { metadata }: ObjectDraft,
  before: readonly ManagedFieldsEntry[] | undefined,
  warn: (text: string) => void,
): void {
  const after = metadata['managedFields']
  const mistake = Array.isArray(after) ? mistakeIn(after) : undefined
  if (mistake === undefined) return
  if (before === undefined) delete metadata['managedFields']
  else metadata['managedFields'] = before
  warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${mistake}`,
  )
}

/** Entries that cannot be read count as well: the next write would drop all of them. */
function mistakeIn(entries: readonly ManagedFieldsEntry[]): string | undefined {
  const [invalid] = validateManagedFields(entries, FieldPath.of('metadata', 'managedFields'))
  return invalid ? formatFieldError(invalid) : managedFieldsError(entries)
}

function dedupeOwners({ metadata }: ObjectDraft, warn: (text: string) => void): void {
  const references = metadata['ownerReferences']
  if (!Array.isArray(references) || references.length < 2) return
  const { kept, duplicateUids } = dedupeOwnerReferences(references)
  if (duplicateUids.length === 0) return
  warn(
    `.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicateUids.join(', ')}`,
  )
  metadata['ownerReferences'] = kept
}

/**
 * Admission plugins and their chain: webhooks, policies, quotas, and hooks of the embedder.
 *
 * There are two rounds, as in kube-apiserver. `mutate` gets the object that the client wants, before system fields
 * are set and before validation; a changed object is decoded and defaulted again. `validate` gets the object that
 * would be written, after validation and inside the retry after a lost race, with the replaced object as the old
 * one. Writes to objects that configure admission itself are shown to hooks of the embedder only.
 */
import { forbidden, type ApiError, type JsonObject, type NamedSubject, type UnstructuredObject } from '#api'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { ResourceRef, User } from '../request-context.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The attributes of a write, beside the object. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation
  /** Resource, subresource, namespace and name; a new object whose name is generated has none yet. */
  readonly target: ResourceRef
  /** Absent for writes of the server itself: then only quotas and lifecycles may refuse. */
  readonly user: User | undefined
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as the client sent them; null for CONNECT. */
  readonly options: JsonObject | null
  /** The object as it is now; absent for CREATE. */
  readonly old?: UnstructuredObject
  /** Adds a `Warning` header. */
  warn(text: string): void
  /** Adds an annotation to the audit event. */
  annotate(key: string, value: string): void
  /** The current round of mutation; a plugin requests the second one here. */
  readonly reinvocation: ReinvocationContext
  readonly signal?: AbortSignal
  /** When the request timed out, in milliseconds of the monotonic clock. */
  readonly dueMs?: number
}

/**
 * Reinvocation: mutation has a second round when a plugin requests it after changing the object; never a third. In the
 * second round a plugin calls only those webhooks or policies again that opted in and ran before the change.
 */
export class ReinvocationContext {
  #round = 0
  #isWanted = false
  readonly #memory = new Map<string, unknown>()

  /** 0, or 1 for the second round. */
  get round(): number {
    return this.#round
  }

  /** Requests a second round after a change. */
  request(): void {
    this.#isWanted = true
  }

  /** Begins the second round, if one was requested. */
  beginRound(): boolean {
    if (this.#round > 0 || !this.#isWanted) return false
    this.#round = 1
    return true
  }

  /** State of a plugin that is kept between the rounds. */
  state<T>(step: string, make: () => T): T {
    if (!this.#memory.has(step)) this.#memory.set(step, make())
    return this.#memory.get(step) as T
  }
}

/** One admission plugin. */
export interface AdmissionPlugin {
  readonly name: string
  /**
   * The resources it is about, as `group/plural`, `/pods` for the core group. Writes to others never reach it, and cost
   * nothing.
   *
   * @default all
   */
  readonly resources?: ReadonlySet<string>
  /** It runs code of the embedder, so only in this thread. */
  readonly isLocal?: true
  /** A cheap first check: whether the plugin can apply to this write at all. */
  handles(admitted: Pick<AdmissionAttributes, 'operation' | 'target'>): boolean
  /**
   * Changes the draft in place. For DELETE there is no draft to change and it is not called.
   *
   * @returns whether the draft has to be decoded and defaulted again; false for changes that leave a complete object
   * @throws {ApiError} when it refuses
   */
  mutate?(draft: ObjectDraft, admitted: AdmissionAttributes): boolean | Promise<boolean>
  /**
   * @param object what would be written; absent for DELETE
   * @throws {ApiError} when it refuses
   */
  validate?(object: UnstructuredObject | undefined, admitted: AdmissionAttributes): Promise<void> | undefined
}

/** All admission plugins in order. */
export interface AdmissionChain {
  /** Whether any plugin applies; if none does, admission is skipped. */
  handles(admitted: Pick<AdmissionAttributes, 'operation' | 'target'>): boolean
  /** Whether a plugin applies that runs code of the embedder. */
  isLocal(admitted: Pick<AdmissionAttributes, 'operation' | 'target'>): boolean
  /** @returns whether anything was changed: then the draft has to be decoded and defaulted again. */
  mutate(draft: ObjectDraft, admitted: AdmissionAttributes): Promise<boolean>
  validate(object: UnstructuredObject | undefined, admitted: AdmissionAttributes): Promise<void>
}

/** Runs plugins in order. The plugins of a resource are selected once, not for each write. */
export function chainAdmission(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const local = plugins.filter(({ isLocal }) => isLocal)
  const selected = new WeakMap<Resource, readonly AdmissionPlugin[]>()
  const stepsOf = ({ target: { resource } }: Pick<AdmissionAttributes, 'target'>): readonly AdmissionPlugin[] => {
    let steps = selected.get(resource)
    if (steps === undefined) {
      const name = `${resource.group}/${resource.plural}`
      selected.set(resource, (steps = plugins.filter(({ resources }) => resources?.has(name) ?? true)))
    }
    return steps
  }
  return {
    handles: (admitted) => stepsOf(admitted).some((step) => step.handles(admitted)),
    isLocal: (admitted) => local.some((step) => step.handles(admitted)),
    async mutate(draft, admitted) {
      const steps = stepsOf(admitted)
      let isChanged = false
      do {
        for (const step of steps)
          if (step.mutate && step.handles(admitted)) isChanged = (await step.mutate(draft, admitted)) || isChanged
      } while (admitted.reinvocation.beginRound())
      return isChanged
    },
    async validate(object, admitted) {
      for (const step of stepsOf(admitted))
        if (step.validate && step.handles(admitted)) await step.validate(object, admitted)
    },
  }
}

/** The refusal of a plugin: 403 about the object. */
export function admissionForbidden(
  { target }: Pick<AdmissionAttributes, 'target'>,
  object: Pick<UnstructuredObject, 'metadata'> | undefined,
  reason: string,
): ApiError {
  return forbidden(admissionSubject(target, object), reason)
}

/** An object with a generated name has only its prefix so far. */
export function admissionSubject(
  { resource: { group, plural }, name }: ResourceRef,
  object: Pick<UnstructuredObject, 'metadata'> | undefined,
): NamedSubject {
  const own = object?.metadata.name ?? ''
  const generated = object?.metadata.generateName ?? ''
  return { group, kind: plural, name: name || own || generated || 'Unknown' }
}

/**
 * Admission plugins and their chain: webhooks, policies, quotas, and hooks of the embedder.
 *
 * There are two rounds, as in kube-apiserver. `mutate` gets the object that the client wants, before system fields
 * are set and before validation; a changed object is decoded and defaulted again. `validate` gets the object that
 * would be written, after validation and inside the retry after a lost race, with the replaced object as the old
 * one. Writes to objects that configure admission itself are shown to hooks of the embedder only.
 */
import type { JsonObject, NamedSubject, UnstructuredObject } from '#api'
import type { ObjectDraft } from '#builtins'
import type { ResourceRef, User } from '../request-context.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** What admission is told of a write, beside the object. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation
  /** Resource, subresource, namespace and name; a new object whose name is generated has none yet. */
  readonly target: ResourceRef
  /** Absent when the server itself writes: then only quotas and lifecycles may object. */
  readonly user: User | undefined
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as the client sent them. */
  readonly options: JsonObject
  /** The object as it is now; absent for CREATE. */
  readonly old?: UnstructuredObject
  /** Something worth a `Warning` header. */
  warn(text: string): void
  /** Something worth an entry in the audit log. */
  annotate(key: string, value: string): void
  /** Which round of mutation this is, and whether there shall be another. */
  readonly reinvocation: ReinvocationContext
  readonly signal?: AbortSignal
}

/**
 * Mutation has a second round when a step says so, because it changed what earlier ones have seen; never a third. In
 * the second round a step asks only those again that want it and that were asked before the change.
 */
export class ReinvocationContext {
  #round = 0
  #isWanted = false
  readonly #memory = new Map<string, unknown>()

  /** 0, or 1 for the second round. */
  get round(): number {
    return this.#round
  }

  /** Something was changed: there shall be a second round. */
  request(): void {
    this.#isWanted = true
  }

  /** Begins the second round, if somebody wants it. */
  beginRound(): boolean {
    if (this.#round > 0 || !this.#isWanted) return false
    this.#round = 1
    return true
  }

  /** What a step remembers from one round to the next. */
  state<T>(step: string, make: () => T): T {
    if (!this.#memory.has(step)) this.#memory.set(step, make())
    return this.#memory.get(step) as T
  }
}

/** One thing that takes part in admission. */
export interface AdmissionPlugin {
  readonly name: string
  /** Cheap, and asked first: whether this write can concern it at all. */
  handles(admitted: Pick<AdmissionAttributes, 'operation' | 'target'>): boolean
  /**
   * Changes the draft in place. For DELETE there is no draft to change and it is not called.
   *
   * @returns whether anything was changed
   * @throws {ApiError} when it refuses
   */
  mutate?(draft: ObjectDraft, admitted: AdmissionAttributes): Promise<boolean>
  /**
   * @param object what would be written; absent for DELETE
   * @throws {ApiError} when it refuses
   */
  validate?(object: UnstructuredObject | undefined, admitted: AdmissionAttributes): Promise<void>
}

/** All of it, in order. */
export interface AdmissionChain {
  /** Whether anybody wants to be asked: nothing else is done for a write that concerns nobody. */
  handles(admitted: Pick<AdmissionAttributes, 'operation' | 'target'>): boolean
  /** @returns whether anything was changed: then the draft has to be shaped and defaulted again. */
  mutate(draft: ObjectDraft, admitted: AdmissionAttributes): Promise<boolean>
  validate(object: UnstructuredObject | undefined, admitted: AdmissionAttributes): Promise<void>
}

/** Asks the steps in order. */
export function chainAdmission(steps: readonly AdmissionPlugin[]): AdmissionChain {
  return {
    handles: (admitted) => steps.some((step) => step.handles(admitted)),
    async mutate(draft, admitted) {
      let isChanged = false
      do {
        for (const step of steps)
          if (step.mutate && step.handles(admitted)) isChanged = (await step.mutate(draft, admitted)) || isChanged
      } while (admitted.reinvocation.beginRound())
      return isChanged
    },
    async validate(object, admitted) {
      for (const step of steps) if (step.validate && step.handles(admitted)) await step.validate(object, admitted)
    },
  }
}

/** The name of an object that has none yet is the beginning of the one it will get. */
export function admissionSubject(
  { resource: { group, plural }, name }: ResourceRef,
  object: Pick<UnstructuredObject, 'metadata'> | undefined,
): NamedSubject {
  const own = object?.metadata.name ?? ''
  const generated = object?.metadata.generateName ?? ''
  return { group, kind: plural, name: name || own || generated || 'Unknown' }
}

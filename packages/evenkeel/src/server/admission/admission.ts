/**
 * What may change or refuse a write: webhooks, policies, quotas, and the hooks of those who embed the server.
 *
 * Two rounds, as upstream has them. `mutate` runs on what the client wants, before system fields are set and before it
 * is judged; what it changed is shaped and defaulted again. `validate` runs on what would be written, after validation
 * and inside the retry around a lost race, and sees the true old object. Nobody is asked about a write to the
 * objects that configure admission itself, except hooks of the embedder.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import type { Target, User } from '../call.ts'
import type { ObjectDraft } from '../resources/resource.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** What admission is told of a write, beside the object. */
export interface Admitted {
  readonly operation: Operation
  /** Resource, subresource, namespace and name; a new object whose name is generated has none yet. */
  readonly target: Target
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
  readonly signal?: AbortSignal
}

/** One thing that takes part in admission. */
export interface AdmissionStep {
  readonly name: string
  /** Cheap, and asked first: whether this write can concern it at all. */
  concerns(admitted: Pick<Admitted, 'operation' | 'target'>): boolean
  /**
   * Changes the draft in place. For DELETE there is no draft to change and it is not called.
   *
   * @returns whether anything was changed
   * @throws {ApiError} when it refuses
   */
  mutate?(draft: ObjectDraft, admitted: Admitted): Promise<boolean>
  /**
   * @param object what would be written; absent for DELETE
   * @throws {ApiError} when it refuses
   */
  validate?(object: UnstructuredObject | undefined, admitted: Admitted): Promise<void>
}

/** All of it, in order. */
export interface Admission {
  /** Whether anybody wants to be asked: nothing else is done for a write that concerns nobody. */
  concerns(admitted: Pick<Admitted, 'operation' | 'target'>): boolean
  /** @returns whether anything was changed: then the draft has to be shaped and defaulted again. */
  mutate(draft: ObjectDraft, admitted: Admitted): Promise<boolean>
  validate(object: UnstructuredObject | undefined, admitted: Admitted): Promise<void>
}

/** Asks the steps in order. */
export function admitInTurn(steps: readonly AdmissionStep[]): Admission {
  return {
    concerns: (admitted) => steps.some((step) => step.concerns(admitted)),
    async mutate(draft, admitted) {
      let isChanged = false
      for (const step of steps) if (step.mutate && step.concerns(admitted)) isChanged = await step.mutate(draft, admitted) || isChanged
      return isChanged
    },
    async validate(object, admitted) {
      for (const step of steps) if (step.validate && step.concerns(admitted)) await step.validate(object, admitted)
    },
  }
}

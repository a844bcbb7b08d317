/**
 * MutatingAdmissionPolicy: expressions that change a write before it is judged, ahead of webhooks.
 *
 * Each policy sees what those before it made. One that wants to is asked a second time when anything changed after it
 * was asked, by itself too: then it sees what everybody made.
 */
import { ApiError, deepCopy, deepEqual, isApiError, loadAdmissionLanguage } from '#api'
import type { AdmissionInput, AdmissionLanguage, JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { Rooms } from '../../call.ts'
import type { ObjectDraft, Resource } from '../../resources/resource.ts'
import type { AdmissionStep, Admitted } from '../admission.ts'
import { formOf, replaceDraft } from '../drafts.ts'
import { expressionInput } from '../expressions/expressions.ts'
import { inForm } from '../matching/forms.ts'
import { isAdmissionConfiguration } from '../matching/matching.ts'
import type { Matching } from '../matching/matching.ts'
import { subjectOf } from '../subject.ts'
import { dispatch } from './dispatch.ts'
import { applyMutation, compileMutations, isWanted, MutationError } from './mutations.ts'
import type { CompiledMutations } from './mutations.ts'
import { Params } from './params.ts'
import { PolicySource } from './policy.ts'
import type { Binding, Policy } from './policy.ts'

type PolicyRooms = Pick<Rooms, 'views' | 'registry' | 'store' | 'cluster' | 'access'>

const group = 'admissionregistration.k8s.io'
const stepName = 'MutatingAdmissionPolicy'

/** The step of admission that lets mutating policies change a write. */
export function mutatingPolicies(rooms: PolicyRooms, matching: Matching): AdmissionStep {
  const { views, access } = rooms
  const source = new PolicySource(
    views.of(group, 'mutatingadmissionpolicies'),
    views.of(group, 'mutatingadmissionpolicybindings'),
  )
  const params = new Params(rooms)
  return {
    name: stepName,
    concerns(admitted) {
      const bound = source.bound()
      return (
        bound.length > 0 &&
        !isAdmissionConfiguration(admitted.target) &&
        bound.some(({ policy }) => matching.couldMatch(policy.criteria, admitted))
      )
    },
    async mutate(draft, admitted) {
      if (admitted.user === undefined) return false
      const language = await loadAdmissionLanguage()
      const round = new Round(draft, { admitted, language, matching, access })
      const subject = { ...admitted, object: draft as unknown as UnstructuredObject }
      const found = await dispatch(source.bound(), subject, { matching, params })
      for (const one of found) if (one.failure !== undefined) round.fail(one.failure, one)
      for (const one of found)
        if (one.failure === undefined) for (const param of one.params) await round.ask(one, param)
      return round.end()
    },
  }
}

/** What is remembered from the first round for the second. */
interface Memory {
  /** Who was asked since the last change, and wants to be asked again after the next. */
  readonly asked: Set<string>
  /** Who is to be asked again. */
  readonly again: Set<string>
  /** What it all came to. */
  left: JsonValue | undefined
}

interface RoundOptions {
  readonly admitted: Admitted
  readonly language: AdmissionLanguage
  readonly matching: Matching
  readonly access: Rooms['access']
}

interface Asked {
  readonly policy: Policy
  readonly binding: Binding
  readonly resource: Resource
}

interface Failed {
  readonly text: string
  /** Empty when the policy could not even be asked. */
  readonly reason: string
}

class Round {
  readonly #draft: ObjectDraft
  readonly #options: RoundOptions
  readonly #memory: Memory
  readonly #failures: Failed[] = []
  #isChanged = false

  constructor(draft: ObjectDraft, options: RoundOptions) {
    this.#draft = draft
    this.#options = options
    const { again } = options.admitted
    this.#memory = again.memory<Memory>(stepName, () => ({ asked: new Set(), again: new Set(), left: undefined }))
    if (again.round > 0 && !deepEqual(this.#memory.left, draft)) this.#askAgain()
  }

  async ask({ policy, binding, resource }: Asked, param: UnstructuredObject | undefined): Promise<void> {
    const compiled = compiledOf(policy, this.#options.language)
    const key = [policy.name, binding.name, param?.metadata.namespace ?? '', param?.metadata.name ?? ''].join('/')
    try {
      if (!(await isWanted(compiled, { ...(await this.#inputFor(resource, param)), namespaceObject: undefined })))
        return
    } catch (error) {
      this.#forgive(error, { policy, binding })
      return
    }
    if (this.#options.admitted.again.round > 0 && !this.#memory.again.has(key)) return
    if (await this.#mutate(compiled, { policy, binding, resource }, param)) {
      this.#isChanged = true
      this.#askAgain()
    }
    if (compiled.isReinvoked) this.#memory.asked.add(key)
  }

  fail(
    message: string,
    { policy, binding }: { policy: Policy; binding?: Binding },
    { reason = '' }: { reason?: string } = {},
  ): void {
    if (policy.ignoresFailure) return
    const whose =
      binding === undefined ? JSON.stringify(policy.name) : `'${policy.name}' with binding '${binding.name}'`
    this.#failures.push({ text: `policy ${whose} denied request: ${message}`, reason })
  }

  /**
   * @returns whether anything was changed
   * @throws {ApiError} when a policy failed that must not.
   */
  end(): boolean {
    const [first] = this.#failures
    if (first) throw this.#refusal(first)
    if (this.#isChanged) {
      this.#askAgain()
      this.#options.admitted.again.want()
    }
    this.#memory.left = deepCopy(this.#draft)
    return this.#isChanged
  }

  #refusal({ text, reason }: Failed): ApiError {
    const subject = subjectOf(this.#options.admitted.target, this.#draft as unknown as UnstructuredObject)
    // The reason is the policy's, the code stays: upstream has it so.
    return new ApiError(reason === '' ? 'Forbidden' : reason, text, {
      subject,
      code: 403,
      causes: this.#failures.map((failure) => ({ message: failure.text })),
    })
  }

  #askAgain(): void {
    const { asked, again } = this.#memory
    for (const key of asked) again.add(key)
    asked.clear()
  }

  /** Whether the object is another one afterwards. */
  async #mutate(compiled: CompiledMutations, asked: Asked, param: UnstructuredObject | undefined): Promise<boolean> {
    const before = deepCopy(this.#draft) as JsonValue
    for (const mutation of compiled.mutations) {
      try {
        const { target } = this.#options.admitted
        const form = formOf({ ...target, resource: asked.resource })
        const input = await this.#inputFor(asked.resource, param)
        await this.#take(await applyMutation(mutation, compiled, { input, form }), asked.resource)
      } catch (error) {
        this.#forgive(error, asked)
      }
    }
    return !deepEqual(before, this.#draft)
  }

  async #take(object: JsonObject, resource: Resource): Promise<void> {
    const { target } = this.#options.admitted
    const own = await inForm(object as unknown as UnstructuredObject, resource, target.resource)
    replaceDraft(this.#draft, own as unknown as JsonObject, formOf(target))
  }

  #forgive(error: unknown, whose: { policy: Policy; binding: Binding }): void {
    if (!(error instanceof MutationError))
      throw isApiError(error) ? error : new Error('a mutating policy could not be applied', { cause: error })
    this.fail(error.message, whose, { reason: 'Invalid' })
  }

  async #inputFor(resource: Resource, params: UnstructuredObject | undefined): Promise<AdmissionInput> {
    const { admitted, matching, access } = this.#options
    const { target, old } = admitted
    // Expressions may hold on to parts of it while the draft is changed.
    const draft = deepCopy(this.#draft) as unknown as UnstructuredObject
    return expressionInput(admitted, {
      resource,
      access,
      params,
      object: await inForm(draft, target.resource, resource),
      old: old && (await inForm(old, target.resource, resource)),
      namespaceObject: matching.namespaceOf(target),
    })
  }
}

const compiled = new WeakMap<Policy, CompiledMutations>()

function compiledOf(policy: Policy, language: AdmissionLanguage): CompiledMutations {
  let known = compiled.get(policy)
  if (known === undefined) compiled.set(policy, (known = compileMutations(policy, language)))
  return known
}

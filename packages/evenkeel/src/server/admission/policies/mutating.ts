/**
 * MutatingAdmissionPolicy: expressions that change a write before it is judged, ahead of webhooks.
 *
 * Each policy sees what those before it made. One that wants to is asked a second time when anything changed after it
 * was asked, by itself too: then it sees what everybody made.
 */
import { ApiError, deepCopy, deepEqual, isApiError, loadAdmissionEngine } from '#api'
import type { AdmissionInput, AdmissionEngine, JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { ServerContext } from '../../call.ts'
import type { ObjectDraft, Resource } from '../../resources/resource.ts'
import type { AdmissionPlugin, AdmissionAttributes } from '../admission.ts'
import { bodyResource, replaceDraft } from '../drafts.ts'
import { expressionInput } from '../expressions/expressions.ts'
import { convertToVersion } from '../matching/forms.ts'
import { isAdmissionConfiguration } from '../matching/matching.ts'
import type { Matcher } from '../matching/matching.ts'
import { admissionSubject } from '../subject.ts'
import { dispatchPolicies } from './dispatch.ts'
import { applyMutation, compileMutations, meetsMatchConditions, MutationError } from './mutations.ts'
import type { CompiledMutations } from './mutations.ts'
import { ParamResolver } from './params.ts'
import { PolicySource } from './policy.ts'
import type { PolicyBinding, AdmissionPolicy } from './policy.ts'

type MutatingPolicyContext = Pick<ServerContext, 'informers' | 'registry' | 'store' | 'cluster' | 'authorizer'>

const admissionGroup = 'admissionregistration.k8s.io'
const pluginName = 'MutatingAdmissionPolicy'

/** The step of admission that lets mutating policies change a write. */
export function mutatingPolicyPlugin(server: MutatingPolicyContext, matching: Matcher): AdmissionPlugin {
  const { informers, authorizer } = server
  const source = new PolicySource(
    informers.forResource(admissionGroup, 'mutatingadmissionpolicies'),
    informers.forResource(admissionGroup, 'mutatingadmissionpolicybindings'),
  )
  const params = new ParamResolver(server)
  return {
    name: pluginName,
    handles(admitted) {
      const bound = source.bound()
      return (
        bound.length > 0 &&
        !isAdmissionConfiguration(admitted.target) &&
        bound.some(({ policy }) => matching.couldMatch(policy.criteria, admitted))
      )
    },
    async mutate(draft, admitted) {
      if (admitted.user === undefined) return false
      const language = await loadAdmissionEngine()
      const round = new MutatingPolicyRound(draft, { admitted, language, matching, authorizer })
      const subject = { ...admitted, object: draft as unknown as UnstructuredObject }
      const found = await dispatchPolicies(source.bound(), subject, { matching, params })
      for (const one of found) if (one.failure !== undefined) round.fail(one.failure, one)
      for (const one of found)
        if (one.failure === undefined) for (const param of one.params) await round.invoke(one, param)
      return round.end()
    },
  }
}

/** What is remembered from the first round for the second. */
interface MutatingPolicyState {
  /** Who was asked since the last change, and wants to be asked again after the next. */
  readonly invoked: Set<string>
  /** Who is to be asked again. */
  readonly reinvocable: Set<string>
  /** What it all came to. */
  output: JsonValue | undefined
}

interface MutatingRoundOptions {
  readonly admitted: AdmissionAttributes
  readonly language: AdmissionEngine
  readonly matching: Matcher
  readonly authorizer: ServerContext['authorizer']
}

interface PolicyCall {
  readonly policy: AdmissionPolicy
  readonly binding: PolicyBinding
  readonly resource: Resource
}

interface MutationFailure {
  readonly text: string
  /** Empty when the policy could not even be asked. */
  readonly reason: string
}

class MutatingPolicyRound {
  readonly #draft: ObjectDraft
  readonly #options: MutatingRoundOptions
  readonly #memory: MutatingPolicyState
  readonly #failures: MutationFailure[] = []
  #isChanged = false

  constructor(draft: ObjectDraft, options: MutatingRoundOptions) {
    this.#draft = draft
    this.#options = options
    const { reinvocation: again } = options.admitted
    this.#memory = again.state<MutatingPolicyState>(pluginName, () => ({
      invoked: new Set(),
      reinvocable: new Set(),
      output: undefined,
    }))
    if (again.round > 0 && !deepEqual(this.#memory.output, draft)) this.#askAgain()
  }

  async invoke({ policy, binding, resource }: PolicyCall, param: UnstructuredObject | undefined): Promise<void> {
    const compiled = compiledOf(policy, this.#options.language)
    const key = [policy.name, binding.name, param?.metadata.namespace ?? '', param?.metadata.name ?? ''].join('/')
    try {
      if (
        !(await meetsMatchConditions(compiled, {
          ...(await this.#inputFor(resource, param)),
          namespaceObject: undefined,
        }))
      )
        return
    } catch (error) {
      this.#forgive(error, { policy, binding })
      return
    }
    if (this.#options.admitted.reinvocation.round > 0 && !this.#memory.reinvocable.has(key)) return
    if (await this.#mutate(compiled, { policy, binding, resource }, param)) {
      this.#isChanged = true
      this.#askAgain()
    }
    if (compiled.isReinvoked) this.#memory.invoked.add(key)
  }

  fail(
    message: string,
    { policy, binding }: { policy: AdmissionPolicy; binding?: PolicyBinding },
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
      this.#options.admitted.reinvocation.request()
    }
    this.#memory.output = deepCopy(this.#draft)
    return this.#isChanged
  }

  #refusal({ text, reason }: MutationFailure): ApiError {
    const subject = admissionSubject(this.#options.admitted.target, this.#draft as unknown as UnstructuredObject)
    // The reason is the policy's, the code stays: upstream has it so.
    return new ApiError(reason === '' ? 'Forbidden' : reason, text, {
      subject,
      code: 403,
      causes: this.#failures.map((failure) => ({ message: failure.text })),
    })
  }

  #askAgain(): void {
    const { invoked: asked, reinvocable: again } = this.#memory
    for (const key of asked) again.add(key)
    asked.clear()
  }

  /** Whether the object is another one afterwards. */
  async #mutate(
    compiled: CompiledMutations,
    asked: PolicyCall,
    param: UnstructuredObject | undefined,
  ): Promise<boolean> {
    const before = deepCopy(this.#draft) as JsonValue
    for (const mutation of compiled.mutations) {
      try {
        const { target } = this.#options.admitted
        const form = bodyResource({ ...target, resource: asked.resource })
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
    const own = await convertToVersion(object as unknown as UnstructuredObject, resource, target.resource)
    replaceDraft(this.#draft, own as unknown as JsonObject, bodyResource(target))
  }

  #forgive(error: unknown, whose: { policy: AdmissionPolicy; binding: PolicyBinding }): void {
    if (!(error instanceof MutationError))
      throw isApiError(error) ? error : new Error('a mutating policy could not be applied', { cause: error })
    this.fail(error.message, whose, { reason: 'Invalid' })
  }

  async #inputFor(resource: Resource, params: UnstructuredObject | undefined): Promise<AdmissionInput> {
    const { admitted, matching, authorizer } = this.#options
    const { target, old } = admitted
    // Expressions may hold on to parts of it while the draft is changed.
    const draft = deepCopy(this.#draft) as unknown as UnstructuredObject
    return expressionInput(admitted, {
      resource,
      authorizer,
      params,
      object: await convertToVersion(draft, target.resource, resource),
      old: old && (await convertToVersion(old, target.resource, resource)),
      namespaceObject: matching.namespaceOf(target),
    })
  }
}

const compiled = new WeakMap<AdmissionPolicy, CompiledMutations>()

function compiledOf(policy: AdmissionPolicy, language: AdmissionEngine): CompiledMutations {
  let known = compiled.get(policy)
  if (known === undefined) compiled.set(policy, (known = compileMutations(policy, language)))
  return known
}

/**
 * MutatingAdmissionPolicy: expressions that change a write before it is validated, before webhooks.
 *
 * Each policy sees the changes of those before it. A policy with `reinvocationPolicy: IfNeeded` runs a second time
 * when the object changed after its first run. An apply configuration is merged into the object by its schema; a
 * JSON patch is applied operation by operation, and one whose own test fails is skipped. The result must be an
 * object of the kind.
 */
import {
  ApiError,
  applyJsonPatch,
  deepCopy,
  deepEqual,
  internalError,
  isApiError,
  isFailedTest,
  loadAdmissionEngine,
  matchConditionsCostMax,
  objectIn,
  objectsIn,
  overlay,
  textIn,
  type AdmissionCompiler,
  type AdmissionEngine,
  type AdmissionExpression,
  type AdmissionInput,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '#api'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { shapeObject } from '../handlers/request-body.ts'
import type { Informers } from '../informers.ts'
import { managedSchema } from '../registry/field-manager.ts'
import { Warnings } from '../request-context.ts'
import { admissionSubject, type AdmissionAttributes, type AdmissionPlugin } from './admission.ts'
import { bodyResource, convertToVersion, replaceDraft } from './conversion.ts'
import { expressionInput, meetsConditions } from './expressions.ts'
import { acceptsPolicies, type Matcher } from './matching.ts'
import {
  dispatchPolicies,
  PolicySource,
  type ParamResolver,
  type AdmissionPolicy,
  type PolicyBinding,
} from './policies.ts'

interface MutatingPolicyContext {
  readonly informers: Informers
  readonly params: ParamResolver
  readonly authorizer: AuthorizerChain
}

const admissionGroup = 'admissionregistration.k8s.io'
const pluginName = 'MutatingAdmissionPolicy'

/** The admission plugin of mutating policies. */
export function mutatingPolicyPlugin(
  { informers, params, authorizer }: MutatingPolicyContext,
  matching: Matcher,
): AdmissionPlugin {
  const source = new PolicySource(
    informers.forResource(admissionGroup, 'mutatingadmissionpolicies'),
    informers.forResource(admissionGroup, 'mutatingadmissionpolicybindings'),
  )
  return {
    name: pluginName,
    handles(admitted) {
      const bound = source.bound()
      return (
        bound.length > 0 &&
        acceptsPolicies(admitted.target) &&
        bound.some(({ policy }) => matching.couldMatch(policy.criteria, admitted))
      )
    },
    async mutate(draft, admitted) {
      if (admitted.user === undefined) return false
      const language = await loadAdmissionEngine()
      const round = new MutatingPolicyRound(draft, { admitted, language, matching, authorizer })
      const subject = { ...admitted, object: draft }
      const found = await dispatchPolicies(source.bound(), subject, { matching, params })
      for (const one of found) if (one.failure !== undefined) round.fail(one.failure, one)
      for (const one of found)
        if (one.failure === undefined) for (const param of one.params) await round.invoke(one, param)
      return round.end()
    },
  }
}

/** State of the first round for the second. */
interface MutatingPolicyState {
  /** Policies that ran since the last change and are to run again after the next. */
  readonly invoked: Set<string>
  /** Policies to run again. */
  readonly reinvocable: Set<string>
  /** The result of the last round. */
  output: JsonValue | undefined
}

interface MutatingRoundOptions {
  readonly admitted: AdmissionAttributes
  readonly language: AdmissionEngine
  readonly matching: Matcher
  readonly authorizer: AuthorizerChain
}

interface PolicyCall {
  readonly policy: AdmissionPolicy
  readonly binding: PolicyBinding
  readonly resource: Resource
}

interface MutationFailure {
  readonly text: string
  /** Empty when the policy could not be evaluated. */
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
   * @throws {ApiError} when a policy failed whose failure policy is `Fail`.
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
    const subject = admissionSubject(this.#options.admitted.target, this.#draft)
    // The reason is the policy's, but the code is always 403, as upstream.
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

  /** Whether the object changed. */
  async #mutate(
    compiled: CompiledMutations,
    asked: PolicyCall,
    param: UnstructuredObject | undefined,
  ): Promise<boolean> {
    const before = deepCopy(this.#draft)
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

  async #take(object: UnstructuredObject, resource: Resource): Promise<void> {
    const { target } = this.#options.admitted
    const own = await convertToVersion(object, resource, target.resource)
    replaceDraft(this.#draft, own, bodyResource(target))
  }

  #forgive(error: unknown, whose: { policy: AdmissionPolicy; binding: PolicyBinding }): void {
    if (!(error instanceof MutationError))
      throw isApiError(error) ? error : new Error('cannot apply a mutating policy', { cause: error })
    this.fail(error.message, whose, { reason: 'Invalid' })
  }

  async #inputFor(resource: Resource, params: UnstructuredObject | undefined): Promise<AdmissionInput> {
    const { admitted, matching, authorizer } = this.#options
    const { target, old } = admitted
    // Expressions may keep references to parts of it while the draft is changed.
    const draft = deepCopy(this.#draft) as UnstructuredObject
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

interface Mutation {
  readonly isPatch: boolean
  readonly expression: AdmissionExpression
}

interface CompiledMutations {
  readonly language: AdmissionEngine
  readonly compiler: AdmissionCompiler
  readonly conditions: readonly AdmissionExpression[]
  readonly mutations: readonly Mutation[]
  /** Runs again when the object changes after it. */
  readonly isReinvoked: boolean
}

/** A mutation that failed. */
class MutationError extends Error {}

function compileMutations({ spec, paramKind }: AdmissionPolicy, language: AdmissionEngine): CompiledMutations {
  const compiler = language.compiler({ hasParams: paramKind !== undefined, hasVariables: true, hasPatches: true })
  for (const variable of objectsIn(spec, 'variables'))
    compiler.define(textIn(variable, 'name'), textIn(variable, 'expression'))
  return {
    language,
    compiler,
    conditions: objectsIn(spec, 'matchConditions').map((condition) =>
      compiler.compile(textIn(condition, 'expression'), { resultTypes: ['bool'] }),
    ),
    mutations: objectsIn(spec, 'mutations').map((mutation) => {
      const isPatch = textIn(mutation, 'patchType') === 'JSONPatch'
      const text = textIn(objectIn(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration'), 'expression')
      return { isPatch, expression: compiler.compile(text, { resultTypes: [isPatch ? 'list(JSONPatch)' : 'Object'] }) }
    }),
    isReinvoked: textIn(spec, 'reinvocationPolicy') === 'IfNeeded',
  }
}

/** @throws {MutationError} when the conditions cannot be evaluated. */
async function meetsMatchConditions(
  { compiler, conditions }: CompiledMutations,
  input: AdmissionInput,
): Promise<boolean> {
  if (conditions.length === 0) return true
  const met = await meetsConditions(conditions, compiler.start(input, { budget: matchConditionsCostMax }))
  if (met.error !== undefined) throw new MutationError(met.error)
  return met.isMet
}

/**
 * The result of one mutation of the object in `input`, which is not changed.
 *
 * @throws {MutationError} when the mutation fails.
 * @throws {ApiError} 500, when the result is not an object of the kind.
 */
async function applyMutation(
  { isPatch, expression }: Mutation,
  { language, compiler }: CompiledMutations,
  { input, form }: { input: AdmissionInput; form: Resource },
): Promise<UnstructuredObject> {
  const object = input.object ?? {}
  if (expression.error !== undefined) throw new MutationError(expression.error)
  const outcome = await compiler.start(input).evaluate(expression)
  if (outcome.error !== undefined) throw new MutationError(outcome.error)
  if (isPatch) return patched(object, unwrap(language.patchOf(outcome.value)), form)
  const part = unwrap(language.configurationOf(outcome.value))
  const { apiVersion, kind } = object
  const laid = overlay(
    object,
    { ...part, ...(apiVersion !== undefined && { apiVersion }), ...(kind !== undefined && { kind }) },
    managedSchema(form),
  )
  if (laid.error !== undefined) throw new MutationError(`error applying patch: ${laid.error}`)
  return laid.json as UnstructuredObject
}

function unwrap<T>(made: { readonly json: T; readonly error?: undefined } | { readonly error: string }): T {
  if (made.error !== undefined) throw new MutationError(made.error)
  return made.json
}

function patched(object: JsonObject, patch: readonly JsonObject[], form: Resource): UnstructuredObject {
  const value = applied(object, patch)
  if (!form.custom && value !== object) requireKnown(value, form)
  return value as UnstructuredObject
}

function applied(object: JsonObject, patch: readonly JsonObject[]): JsonValue {
  try {
    return applyJsonPatch(object, patch, { negativeIndices: true, missingIsNull: true })
  } catch (error) {
    if (isFailedTest(error)) return object
    if (isApiError(error))
      throw new MutationError(`JSON Patch: ${error.message.slice(error.message.indexOf(': ') + 2)}`)
    throw error
  }
}

/** A patch that adds unknown fields to a built-in kind is an error, unlike that of a webhook. */
function requireKnown(value: JsonValue, form: Resource): void {
  try {
    shapeObject({ value, duplicates: [] }, form, { fieldValidation: 'Strict', warnings: new Warnings() })
  } catch (error) {
    throw isApiError(error) ? internalError(error) : error
  }
}
